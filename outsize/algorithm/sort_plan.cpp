// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort_plan.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <stdexcept>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize {
namespace {

constexpr std::size_t least_block_bytes = 32_KiB;
constexpr std::size_t least_encoded_block_bytes = 64_KiB;
constexpr std::size_t least_forced_block_bytes = 256;  // where they always are
constexpr std::size_t most_block_bytes = 2_MiB;     // more brings nothing on the disks we measured
constexpr std::size_t good_block_bytes = 64_KiB;    // not made smaller than this to save a pass
constexpr std::uint64_t assumed_record_bytes = 64;  // where lengths vary and nothing is known
constexpr std::uint64_t table_entry_bytes = 8;      // in a block
constexpr std::size_t least_index_entry_bytes = 32;
constexpr std::size_t least_blocks_of_index = 256;  // bytes of a block for each byte of its entry
// One chunk for each of filling, sorting and writing; or several that are sorted at once, each by a
// thread of its own, at the price of shorter runs; and if that price is low, some that wait. More
// threads than sort many at once get more chunks, at the same price.
constexpr std::size_t few_chunks = 3, some_chunks = 4, many_chunks = 6;
constexpr std::size_t least_blocks_of_many = 8;  // in each chunk
// Of more memory than that chunks are more, not longer: distributed once to buckets, these fit in
// cache, and there is something to sort, and to write, sooner (0050).
constexpr std::size_t good_chunk_bytes = 80_MiB;
// A merge has room for a record of nearly the 16th part of the memory, and so must a chunk.
constexpr std::size_t most_chunks_of_records = 16;

/// The most block metadata this plan allows for.
std::uint64_t index_bytes(sort_job const& job, std::size_t block_bytes) {
  if (!job.input_bytes) {
    bool const is_large = job.index_entry_bytes > block_bytes / 64;  // with a long item in it
    return job.memory_bytes / (is_large ? 4 : 8);
  }
  // What is on top pays for the block that each thread leaves unfilled in each of its stretches,
  // and where memory is not scarce also for records that fill blocks badly.
  std::uint64_t const expected = *job.input_bytes / block_bytes;
  auto const of_blocks = [&](std::uint64_t blocks) {
    return (blocks + 64) * job.index_entry_bytes;
  };
  std::uint64_t const least = of_blocks(expected * 3 / 2), generous = of_blocks(2 * expected);
  // Short records take less than their entries in the tables of blocks: a line without any bytes
  // is one byte of input, and eight of a table.
  if (job.item_bytes == 0)
    return std::max(least,
                    std::min(job.memory_bytes / 8, of_blocks((1 + table_entry_bytes) * expected)));
  return generous <= job.memory_bytes / 32 ? generous : least;
}

/// The division for a given block size; chunk_bytes 0 if it does not fit.
sort_plan divide(sort_job const& job, std::size_t block_bytes, std::size_t chunks) {
  sort_plan plan;
  plan.chunks = chunks;
  plan.job = job;
  // All but one that is being filled and one that is being written.
  plan.sorts_at_once = std::min(chunks - 2, job.threads);
  plan.scratch_chunks = job.out_of_place ? plan.sorts_at_once : 0;
  plan.memory_bytes = job.memory_bytes;
  plan.input_bytes = job.input_bytes;
  plan.block_bytes = block_bytes;
  plan.codec = block_bytes < (job.codec == run_codec::always ? least_forced_block_bytes
                                                             : least_encoded_block_bytes)
                   ? run_codec::none
                   : job.codec;
  plan.held_bytes =
      plan.codec == run_codec::none || !job.key_codec ? block_bytes : held_bytes_for(block_bytes);
  plan.threads = job.threads;
  plan.most_fan_in = job.most_fan_in;
  plan.index_bytes = index_bytes(job, block_bytes);
  // Packed blocks are filled many at a time, as each thread leaves one of its own unfilled.
  std::size_t const share = job.item_bytes != 0 ? 16 : 8;
  plan.write_buffers = std::clamp<std::size_t>(job.memory_bytes / (share * block_bytes), 4, 64);
  std::uint64_t const fixed =
      job.input_stream_bytes + plan.index_bytes + plan.write_buffers * block_bytes + page_bytes();
  if (plan.index_bytes > job.memory_bytes / 4 || fixed >= job.memory_bytes) return plan;
  std::size_t const chunk = (job.memory_bytes - fixed) / (chunks + plan.scratch_chunks);
  plan.chunk_bytes = round_down(chunk, page_bytes());
  if (plan.chunk_bytes < std::max(block_bytes, 2 * job.item_bytes)) plan.chunk_bytes = 0;
  std::size_t const item = job.item_bytes != 0 ? job.item_bytes : assumed_record_bytes;
  plan.run_bytes = plan.chunk_bytes / (item + job.chunk_entry_bytes) * item;
  // Four pages: the buffers of a merge are rounded up to whole ones.
  std::uint64_t const besides =
      job.input_stream_bytes + plan.index_bytes + job.left_bytes + 4 * page_bytes();
  plan.merge_bytes = job.memory_bytes - std::min(job.memory_bytes, besides);
  return plan;
}

/// Chunks that the input fills, if they do not all fit in memory.
std::uint64_t chunk_count(sort_job const& job, sort_plan const& plan) {
  std::uint64_t const bytes = job.input_bytes.value_or(0);
  std::uint64_t const in_memory = plan.run_bytes * plan.chunks;
  if (bytes <= (job.left_bytes == 0 ? in_memory : std::min(in_memory, plan.merge_bytes))) return 0;
  return div_up<std::uint64_t>(bytes, plan.run_bytes);
}

bool usable(sort_job const& job, sort_plan const& plan) {
  return plan.chunk_bytes != 0 &&
         shape_merge(plan.merge_bytes, plan.held_bytes, job.threads).fan_in >= 2;
}

void predict(sort_job const& job, sort_plan& plan) {
  if (!job.input_bytes) return;
  std::uint64_t const bytes = *job.input_bytes;
  plan.read_bytes = plan.written_bytes = bytes;
  std::uint64_t const chunks = chunk_count(job, plan);
  if (chunks == 0) return;
  plan.kept_chunks = chunks_beside_merge(plan, chunks, plan.held_bytes);
  plan.runs = chunks - plan.kept_chunks;
  std::uint64_t const spilled = job.item_bytes != 0 ? std::min(bytes, plan.runs * plan.run_bytes)
                                                    : bytes / chunks * plan.runs;
  std::uint64_t const table =
      job.item_bytes != 0 ? 0 : spilled / assumed_record_bytes * table_entry_bytes;
  std::uint64_t const on_disk = spilled + table;
  auto const shape = shape_merge(plan.merge_bytes - plan.kept_chunks * plan.chunk_bytes,
                                 plan.held_bytes, job.threads, job.most_fan_in);
  auto const fan_in = shape.fan_in;
  // Each run's last block is not full; a further pass has blocks in memory that are not freed yet.
  std::uint64_t const in_memory = plan.runs > fan_in ? fan_in + shape.ahead + shape.output : 0;
  plan.peak_disk_bytes = on_disk + (plan.runs + in_memory) * plan.block_bytes;
  // Of records it is not known how many there are, so all chunks may be full of their bytes.
  std::uint64_t const in_chunks_at_most = plan.chunks * plan.chunk_bytes;
  if (plan.codec == run_codec::none)
    plan.least_disk_bytes =
        job.item_bytes != 0 ? spilled : bytes - std::min(bytes, in_chunks_at_most);
  plan.passes = 1;
  double moved = 1;  // shares of the data that go to disk and back
  for (std::uint64_t runs = plan.runs; runs > fan_in; ++plan.passes) {
    std::uint64_t const after =
        std::max<std::uint64_t>(fan_in, div_up<std::uint64_t>(runs, fan_in));
    std::uint64_t const merged =
        std::min(runs, (runs - after) + div_up<std::uint64_t>(runs - after, fan_in - 1));
    moved += static_cast<double>(merged) / static_cast<double>(runs);
    runs = after;
  }
  auto const extra = static_cast<std::uint64_t>(moved * static_cast<double>(on_disk));
  plan.read_bytes += extra;
  plan.written_bytes += extra;
}

/// The division for a given block size and its prediction; perhaps not usable.
sort_plan predicted(sort_job const& job, std::size_t block_bytes, std::size_t chunks) {
  sort_plan plan = divide(job, block_bytes, chunks);
  if (usable(job, plan)) predict(job, plan);
  return plan;
}

/// The plan with the best block size, its prediction included: large, but small enough to merge all
/// runs in fewer passes if that is possible with blocks that are still good, and large enough for
/// the index to fit.
sort_plan choose_block_size(sort_job const& job, std::size_t chunks) {
  std::size_t start = std::clamp<std::size_t>(std::bit_floor(job.memory_bytes / 128),
                                              least_block_bytes, most_block_bytes);
  // The index of blocks, which may hold an item of each, must do for whatever comes.
  std::size_t const for_index =
      job.input_bytes ? start : std::bit_ceil(least_blocks_of_index * job.index_entry_bytes);
  for (; for_index > start && usable(job, divide(job, 2 * start, chunks)); start *= 2) continue;
  sort_plan best = predicted(job, start, chunks);
  for (std::size_t b = start * 2; !usable(job, best) && b <= job.memory_bytes / least_merge_blocks;
       b *= 2)
    best = predicted(job, b, chunks);
  for (std::size_t b = best.block_bytes / 2; b >= good_block_bytes && best.passes > 1; b /= 2) {
    sort_plan const finer = predicted(job, b, chunks);
    if (!usable(job, finer)) break;
    if (finer.passes < best.passes) best = finer;
  }
  return best;
}

/// The whole plan with so many chunks; perhaps not usable.
sort_plan plan_with(sort_job const& job, std::size_t chunks) {
  if (job.block_bytes == 0) return choose_block_size(job, chunks);
  return predicted(job, round_up(job.block_bytes, least_block_unit_bytes), chunks);
}

/// The plan with the best number of chunks; perhaps not usable.
sort_plan best_plan(sort_job const& job) {
  sort_plan const plan = plan_with(job, few_chunks);
  // Records of varying length need chunks as large as can be had, unless they are spilled: then the
  // merge has less room for one of them than any chunk.
  bool const fits_finer = job.item_bytes != 0 || plan.runs > 0;
  if (!fits_finer || !usable(job, plan)) return plan;
  auto const is_good = [&](sort_plan const& finer, std::size_t shortest_block_bytes) {
    return usable(job, finer) && finer.chunk_bytes >= least_blocks_of_many * finer.block_bytes &&
           (job.item_bytes != 0 || finer.chunk_bytes > job.memory_bytes / most_chunks_of_records) &&
           finer.block_bytes >= shortest_block_bytes && finer.passes <= plan.passes;
  };
  // Each sorted by one thread, or at least by as few as can be, and no longer than good; if it is
  // known how many runs that makes.
  std::size_t const for_all = plan.chunk_bytes * (plan.chunks + plan.scratch_chunks);
  std::size_t const most = std::max(div_up(for_all, good_chunk_bytes), job.threads + 2);
  for (std::size_t chunks = most; job.input_bytes && chunks > many_chunks; chunks = chunks / 2 + 1)
    if (sort_plan const finer = plan_with(job, chunks); is_good(finer, plan.block_bytes))
      return finer;
  for (std::size_t const shortest : {plan.block_bytes, plan.block_bytes / 2})
    for (std::size_t const chunks : {many_chunks, some_chunks}) {
      bool const is_sorted_whole = job.threads + 2 <= chunks;
      if (chunks == some_chunks && !is_sorted_whole) break;
      // What one thread sorts is written as it lies, without a merge: worth shorter blocks (0049).
      bool const saves_merges = job.item_bytes != 0 && job.threads > 1 && is_sorted_whole;
      if (shortest < plan.block_bytes && !saves_merges) break;
      if (sort_plan const finer = plan_with(job, chunks); is_good(finer, shortest)) return finer;
    }
  return plan;
}

}  // namespace

merge_shape shape_merge(std::uint64_t memory_bytes, std::size_t block_bytes, std::size_t threads,
                        std::size_t most_fan_in) {
  std::size_t const total = memory_bytes / block_bytes;
  if (total < least_merge_blocks) return {0, 0, 0};
  // Rounds of some 16 MiB for each thread outweigh their fork and join; more is better spent on
  // fan-in.
  std::size_t const most = std::max<std::size_t>(1, threads * 16_MiB / block_bytes);
  std::size_t const spare = most_fan_in != 0 && most_fan_in < total ? (total - most_fan_in) / 4 : 0;
  std::size_t const ahead = std::clamp<std::size_t>(std::max(total / 16, spare), 1, most);
  std::size_t const output = std::max<std::size_t>(4, 2 * ahead);
  std::size_t const fan_in = total - 2 * ahead - output;
  return {most_fan_in != 0 ? std::min(fan_in, most_fan_in) : fan_in, ahead, output};
}

std::uint64_t memory_of_merge(std::size_t runs, std::size_t block_bytes, std::size_t threads) {
  std::uint64_t bytes = std::max(least_merge_blocks, runs) * std::uint64_t{block_bytes};
  while (shape_merge(bytes, block_bytes, threads, runs).fan_in < runs) bytes += block_bytes;
  return bytes;
}

std::size_t chunks_beside_merge(sort_plan const& plan, std::uint64_t chunks,
                                std::size_t held_bytes) noexcept {
  if (plan.most_fan_in != 0 && chunks > plan.most_fan_in) return 0;
  auto const shape_beside = [&](std::uint64_t kept, std::size_t runs) {
    std::uint64_t const taken = std::min(plan.merge_bytes, kept * plan.chunk_bytes);
    return shape_merge(plan.merge_bytes - taken, held_bytes, plan.threads, runs);
  };
  std::size_t const good_ahead = shape_beside(0, 0).ahead;
  // Where chunks take all of its memory nothing is left for the merge.
  std::uint64_t kept = std::min({chunks - 1, std::uint64_t{plan.chunks},
                                 plan.merge_bytes / std::max<std::size_t>(1, plan.chunk_bytes)});
  for (; kept > 0; --kept) {
    std::uint64_t const runs = chunks - kept;
    auto const shape = shape_beside(kept, runs);
    if (shape.fan_in >= runs && shape.ahead >= good_ahead) break;
  }
  return static_cast<std::size_t>(kept);
}

void require_sort_memory(std::uint64_t memory_bytes) {
  if (memory_bytes >= min_sort_memory_bytes) return;
  throw budget_error("sort", memory_bytes, min_sort_memory_bytes,
                     fmt::format("a memory budget of {} is too small for a sort, need at least {}",
                                 format_bytes(memory_bytes), format_bytes(min_sort_memory_bytes)));
}

std::size_t held_bytes_for(std::size_t block_bytes, std::size_t unit_bytes) noexcept {
  return round_up(block_bytes + block_bytes / 2, unit_bytes);
}

void throw_too_long_for(std::string const& asker, std::uint64_t item_bytes,
                        std::uint64_t memory_bytes, memory_budget const& budget) {
  constexpr std::uint64_t parts = 17;  // of a sort's memory an item is a sixteenth at most
  std::uint64_t const enough = parts * item_bytes, all = budget.total_bytes();
  std::string const others =
      memory_bytes < all ? fmt::format(" (the storage has {})", format_bytes(all)) : "";
  throw budget_error(asker, memory_bytes, enough,
                     fmt::format("{}: an item of {} bytes is too long for a sort with {} of memory"
                                 "{}: it takes {}",
                                 asker, item_bytes, format_bytes(memory_bytes), others,
                                 format_enough_bytes(enough)));
}

sort_options with_memory(sort_options options, std::uint64_t memory_bytes,
                         std::optional<std::uint64_t> coming_bytes) {
  constexpr std::uint64_t much = 16;  // times the memory; the index has room for four times that
  options.memory_bytes = round_down<std::uint64_t>(memory_bytes, page_bytes());
  if (coming_bytes && *coming_bytes / much > options.memory_bytes)
    options.input_bytes = coming_bytes;
  if (options.block_bytes != 0 || options.memory_bytes >= min_sort_memory_bytes) return options;
  sort_job const job{.memory_bytes = options.memory_bytes, .input_bytes = options.input_bytes};
  options.block_bytes = least_block_bytes;
  while (options.input_bytes && index_bytes(job, options.block_bytes) > job.memory_bytes / 4 &&
         2 * options.block_bytes <= job.memory_bytes / (2 * least_merge_blocks))
    options.block_bytes *= 2;
  return options;
}

sort_needs needs_of(sort_job job) {
  constexpr std::uint64_t unbounded = std::uint64_t{1} << 62;
  auto const planned = [&job](std::uint64_t memory_bytes) {
    job.memory_bytes = memory_bytes;
    std::optional<sort_plan> plan;
    if (job.block_bytes != 0 || memory_bytes >= min_sort_memory_bytes) plan = best_plan(job);
    return plan && usable(job, *plan) ? plan : std::nullopt;
  };
  // The least memory whose plan is good, if more than that is good too.
  auto const least = [&](std::uint64_t from, auto const& is_good) {
    std::uint64_t good = std::max<std::uint64_t>(from, 64_KiB);
    while (!is_good(planned(good)) && good < unbounded) good *= 2;
    for (std::uint64_t step = good / 4; step > good / 64; step /= 2)
      if (good - step >= from && is_good(planned(good - step))) good -= step;
    return good;
  };
  sort_needs needs{.knee_bytes = unbounded, .most_bytes = unbounded};
  needs.least_bytes = least(0, [](auto const& plan) { return plan.has_value(); });
  if (!job.input_bytes) return needs;
  needs.knee_bytes =
      least(needs.least_bytes, [](auto const& plan) { return plan && plan->passes <= 1; });
  needs.most_bytes =
      least(needs.knee_bytes, [](auto const& plan) { return plan && plan->runs == 0; });
  return needs;
}

sort_plan plan_sort(sort_job const& job) {
  if (job.most_fan_in == 1)
    throw std::invalid_argument("sort: a merge needs a fan-in of 2 or more");
  if (job.block_bytes == 0) require_sort_memory(job.memory_bytes);
  sort_plan const plan = best_plan(job);
  if (job.codec == run_codec::automatic) {
    // What encoded blocks need more of memory must not cost a pass, or the sort.
    sort_job plain = job;
    plain.codec = run_codec::none;
    sort_plan const without = best_plan(plain);
    bool const costs = !usable(job, plan) || without.passes < plan.passes;
    if (costs && usable(plain, without)) return without;
  }
  if (usable(job, plan)) return plan;
  if (job.block_bytes != 0 && job.input_bytes) {
    // Of blocks that the caller has chosen the index may well be shorter than is allowed for.
    sort_job unsure = job;
    unsure.input_bytes.reset();
    sort_plan const hopeful = best_plan(unsure);
    std::uint64_t const least_index = *job.input_bytes / job.block_bytes * least_index_entry_bytes;
    if (usable(unsure, hopeful) && least_index <= hopeful.index_bytes) return hopeful;
  }
  sort_job larger = job;
  while (!usable(larger, plan_with(larger, few_chunks)))
    larger.memory_bytes += larger.memory_bytes / 8 + 1;
  throw budget_error(
      "sort", job.memory_bytes, larger.memory_bytes,
      fmt::format("sort: a memory budget of {} is too small for this input, "
                  "need about {}",
                  format_bytes(job.memory_bytes), format_bytes(larger.memory_bytes)));
}

}  // namespace outsize
