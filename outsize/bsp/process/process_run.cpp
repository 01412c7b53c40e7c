// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/process/process_run.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/arena_heap.hpp>
#include <outsize/bsp/detail/fiber_run.hpp>
#include <outsize/bsp/process/rank_server.hpp>

namespace outsize::bsp::process {

namespace {

constexpr std::uint64_t private_bytes =
    256_KiB;  // of a process: stack, libraries' data, page tables
constexpr std::uint64_t page = 4096;

/// Where more ranks compute than there are processors, those pages that the kernel would read ahead
/// evict pages that others use: 16 ranks with 64 MiB took minutes instead of seconds.
bool reads_ahead(run_plan const& plan) {
  return !plan.is_paged_by_kernel || plan.workers <= available_threads();
}

/// Says how a region of control memory is divided.
void fill(header& all, run_plan const& plan) {
  detail::arena_shape const shape = detail::shape_of(plan.context_bytes);
  all.magic_number = magic;
  all.arena_bytes = shape.arena_bytes;
  all.piece_bytes = shape.piece_bytes;
  all.context_bytes = plan.context_bytes;
  all.frame_bytes = plan.frame_bytes;
  all.count = plan.count;
  all.frames_are_on_disk = plan.is_paged_by_kernel ? 1 : 0;
  all.reads_ahead = reads_ahead(plan) ? 1 : 0;
  all.part_capacity = std::max<std::uint64_t>(plan.count, 64);
  all.posted_capacity = 4096;
  std::uint64_t const pieces = shape.arena_bytes / shape.piece_bytes;
  std::uint64_t offset = round_up<std::uint64_t>(sizeof(rank_control), page);
  auto const take = [&](std::uint64_t bytes) {
    std::uint64_t const at = offset;
    offset += round_up(bytes, page);
    return at;
  };
  all.frames_offset = take(4 * pieces);
  all.mapped_offset = take(4 * pieces);
  all.parts_offset = take(sizeof(part) * all.part_capacity);
  all.posted_offset = take(sizeof(part) * all.posted_capacity);
  all.heap_offset = take(detail::arena_heap::table_bytes(shape.arena_bytes));
  all.region_bytes = offset;
}

std::uint64_t control_bytes(run_plan const& plan) {
  header all = {};
  fill(all, plan);
  return sizeof(header) + plan.count * all.region_bytes;
}

std::string message_of(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

/// The code that MPI_Abort was called with, if that is the reason.
int exit_code_of(std::string const& message) {
  constexpr std::string_view mark = "MPI_Abort with code ";
  std::size_t const at = message.find(mark);
  if (at == std::string::npos) return 1;
  int const code = std::atoi(message.c_str() + at + mark.size());
  return (code & 0xff) == 0 ? 1 : code & 0xff;
}

}  // namespace

run_plan plan_processes(process_options const& options) {
  run_options all;
  all.memory_bytes =
      options.memory_bytes != 0 ? options.memory_bytes : available_memory_bytes() / 2;
  all.context_bytes = options.context_bytes;
  all.workers =
      options.workers != 0 ? options.workers : static_cast<std::uint32_t>(available_threads());
  all.stack_bytes = 64_KiB;  // of the fibers that serve
  if (!options.maps_files) return plan_memory(options.count, all, private_bytes);
  all.workers = options.workers != 0 ? options.workers : options.count;
  return plan_mapped(options.count, all, private_bytes);
}

process_memory::process_memory(process_options const& options, run_plan const& plan)
    : control_("outsize control", control_bytes(plan)) {
  fill(shared(), plan);
  if (!plan.is_paged_by_kernel) {
    frames_.push_back(std::make_unique<shared_memory>("outsize frames", plan.frame_bytes));
    return;
  }
  std::vector<disk_options> const disks = options.disks.empty() ? default_disks() : options.disks;
  for (std::uint32_t rank = 0; rank < plan.count; ++rank) {
    disk_options const& disk = disks[rank % disks.size()];
    if (disk.raw) {
      throw std::invalid_argument(
          fmt::format("'{}' is no directory: --swap=mmap needs one for its files", disk.path));
    }
    frames_.push_back(
        shared_memory::in_directory(disk.path, plan.context_bytes, reads_ahead(plan)));
  }
}

std::string process_memory::environment_of(std::uint32_t rank) const {
  shared_memory const& frames = *frames_[rank % frames_.size()];
  control_.let_inherit();
  frames.let_inherit();
  return fmt::format("{}={}:{}:{}", environment_name, control_.descriptor(), frames.descriptor(),
                     rank);
}

run_report serve_processes(process_options const& options, run_plan const& plan,
                           process_memory& memory) {
  header& all = memory.shared();
  storage store({.disks = options.disks,
                 .memory_bytes = plan.memory_bytes,
                 .threads = std::clamp<std::size_t>(plan.workers, 1, available_threads())});
  std::vector<std::unique_ptr<frame_pool>> frames;
  for (std::unique_ptr<shared_memory> const& one : memory.frames())
    frames.push_back(std::make_unique<frame_pool>(*one, all.piece_bytes));
  detail::engine* core = nullptr;
  detail::fiber_run run(
      store, plan,
      [&](std::uint32_t rank) {
        return std::make_unique<remote_arena>(*frames[rank % frames.size()], all, rank);
      },
      [&](std::uint32_t rank) { rank_server(*core, all, rank).serve(); });
  core = &run.core();
  core->shared().on_failure = [&all, core] {
    std::string const message = message_of(core->shared().failure.error);
    message.copy(all.text, most_text - 1);
    all.exit_code = exit_code_of(message);
    all.has_failed.store(1);
    ::_exit(1);
  };
  return run.run();
}

}  // namespace outsize::bsp::process
