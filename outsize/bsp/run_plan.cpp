// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/run_plan.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/bsp/detail/message_store.hpp>
#include <outsize/bsp/detail/processor_context.hpp>

namespace outsize::bsp {

namespace {

constexpr char const* asker = "virtual processors";
constexpr std::uint64_t stack_share = 16_KiB;  // of each stack's addresses, in use at a suspension
constexpr std::uint64_t least_context = 64_KiB;
constexpr std::size_t least_stack = 16_KiB;

run_plan plan_without_frames(std::uint32_t count, run_options const& options,
                             std::uint64_t beside_bytes) {
  if (count == 0) throw std::invalid_argument("virtual processors: there must be at least one");
  if (options.stack_bytes < least_stack) {
    throw std::invalid_argument("virtual processors: a stack must have 16 KiB at least");
  }
  run_plan plan{.count = count};
  plan.workers = std::min(options.workers, count);
  plan.memory_bytes = options.memory_bytes;
  plan.message_bytes =
      std::max(plan.memory_bytes / 8, detail::message_store::least_memory_bytes(plan.workers));
  plan.stack_address_bytes = options.stack_bytes;
  plan.stack_bytes = count * beside_bytes;
  return plan;
}

/// Pieces are whole: of the most that there can be, a rest that does not fill one is left unused.
std::uint64_t whole_context_bytes(std::uint64_t asked, std::uint64_t most) {
  if (asked == 0) return detail::shape_of(std::max(most, least_context)).context_bytes;
  std::uint64_t const least = std::max(asked, least_context);
  return round_up<std::uint64_t>(least, detail::shape_of(least).piece_bytes);
}

}  // namespace

run_plan plan_run(storage& store, std::uint32_t count, run_options const& options) {
  run_options all = options;
  if (all.workers == 0) all.workers = static_cast<std::uint32_t>(store.threads().threads());
  if (all.memory_bytes == 0) all.memory_bytes = store.memory().obtainable_bytes();
  return plan_memory(count, all, std::min<std::uint64_t>(stack_share, options.stack_bytes));
}

run_plan plan_memory(std::uint32_t count, run_options const& options, std::uint64_t beside_bytes) {
  if (options.context_bytes > options.memory_bytes) {
    throw budget_error(asker, options.memory_bytes, options.context_bytes);
  }
  run_plan plan = plan_without_frames(count, options, beside_bytes);
  std::uint64_t const at_once = std::min(plan.workers + 2, count);
  std::uint64_t const beside = plan.message_bytes + plan.stack_bytes;
  std::uint64_t const frames = plan.memory_bytes - std::min(plan.memory_bytes, beside);
  plan.context_bytes = whole_context_bytes(options.context_bytes, frames / at_once);
  std::uint32_t const piece_bytes = detail::shape_of(plan.context_bytes).piece_bytes;
  plan.frame_bytes = frames / piece_bytes * piece_bytes;
  if (plan.context_bytes * at_once > plan.frame_bytes) {
    std::uint64_t const need = plan.context_bytes * at_once + beside;
    throw budget_error(
        asker, plan.memory_bytes, need,
        fmt::format("{}: {} contexts of {} must fit into memory at once, with {} "
                    "beside them: have {}, need {}",
                    asker, at_once, format_bytes(plan.context_bytes), format_bytes(beside),
                    format_bytes(plan.memory_bytes), format_bytes(need)));
  }
  return plan;
}

run_plan plan_mapped(std::uint32_t count, run_options const& options, std::uint64_t beside_bytes) {
  run_plan plan = plan_without_frames(count, options, beside_bytes);
  plan.is_paged_by_kernel = true;
  plan.context_bytes = whole_context_bytes(options.context_bytes, options.memory_bytes);
  plan.frame_bytes = count * plan.context_bytes;
  std::uint64_t const need = plan.message_bytes + plan.stack_bytes;
  if (need > plan.memory_bytes) throw budget_error(asker, plan.memory_bytes, need);
  return plan;
}

std::string run_plan::explain() const {
  if (is_paged_by_kernel) {
    return fmt::format(
        "{} virtual processors, {} at a time\n"
        "memory {}: messages {}, stacks {}; contexts are files that the kernel pages\n"
        "each may allocate {}; disk up to {}, and messages\n",
        count, workers, format_bytes(memory_bytes), format_bytes(message_bytes),
        format_bytes(stack_bytes), format_bytes(context_bytes), format_bytes(most_disk_bytes()));
  }
  return fmt::format(
      "{} virtual processors, {} at a time\n"
      "memory {}: contexts {}, messages {}, stacks {}\n"
      "each may allocate {}; disk up to {}, and messages\n",
      count, workers, format_bytes(memory_bytes), format_bytes(frame_bytes),
      format_bytes(message_bytes), format_bytes(stack_bytes), format_bytes(context_bytes),
      format_bytes(most_disk_bytes()));
}

processor_counts run_report::total() const noexcept {
  processor_counts sum;
  for (processor_counts const& one : processors) {
    sum.swapped_out_bytes += one.swapped_out_bytes;
    sum.swapped_in_bytes += one.swapped_in_bytes;
    sum.sent_bytes += one.sent_bytes;
    sum.operations += one.operations;
  }
  return sum;
}

}  // namespace outsize::bsp
