// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/process/process_run.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
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
  all.grain_bytes = shape.grain_bytes;
  all.context_bytes = plan.context_bytes;
  all.frame_bytes = plan.frame_bytes;
  all.count = plan.count;
  all.frames_are_on_disk = plan.is_paged_by_kernel ? 1 : 0;
  all.reads_ahead = reads_ahead(plan) ? 1 : 0;
  all.posted_capacity = 16384;
  all.part_capacity = std::max<std::uint64_t>(plan.count, all.posted_capacity);
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

}  // namespace

run_plan plan_processes(process_options const& options) {
  run_options all;
  all.memory_bytes =
      options.memory_bytes != 0 ? options.memory_bytes : available_memory_bytes() / 2;
  all.context_bytes = options.context_bytes;
  all.workers =
      options.workers != 0 ? options.workers : static_cast<std::uint32_t>(available_threads());
  all.stack_bytes = 64_KiB;  // of the fibers that serve
  if (options.maps_files && options.workers == 0) all.workers = options.count;
  run_plan plan = options.maps_files ? plan_mapped(options.count, all, private_bytes)
                                     : plan_memory(options.count, all, private_bytes);
  check_tasks(plan, available_tasks());
  return plan;
}

void check_tasks(run_plan const& plan, startable_tasks const& allowed) {
  // The engine has its first thread, the workers, and the one that moves memory.
  std::uint64_t const needed = std::uint64_t{plan.count} + 2 + plan.workers;
  if (needed <= allowed.count) return;
  throw plan_error(
      fmt::format("{} ranks need {} processes and threads, but no more than {} can be started: {}",
                  plan.count, needed, allowed.count, allowed.limit));
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

std::uint64_t process_memory::allocated_bytes() const noexcept {
  std::uint64_t bytes = control_.allocated_bytes();
  for (std::unique_ptr<shared_memory> const& each : frames_) bytes += each->allocated_bytes();
  return bytes;
}

std::string process_memory::environment_of(std::uint32_t rank) const {
  shared_memory const& frames = *frames_[rank % frames_.size()];
  control_.let_inherit();
  frames.let_inherit();
  return fmt::format("{}={}:{}:{}", environment_name, control_.descriptor(), frames.descriptor(),
                     rank);
}

void note_failure(header& all, std::exception_ptr const& failure) noexcept {
  auto const note = [&all](char const* reason) {
    std::strncpy(all.text, reason, most_text - 1);
    all.has_failed.store(1);
  };
  try {
    std::rethrow_exception(failure);
  } catch (std::bad_alloc const&) {
    note("the engine: no memory is left, of the system or below a limit of the process");
  } catch (io_error const& e) {
    note(e.what());
  } catch (std::system_error const& e) {
    if (e.code() == std::errc::resource_unavailable_try_again) {
      note("the engine: cannot start a thread: a limit of processes or of memory");
    } else {
      note(e.what());
    }
  } catch (std::exception const& e) {
    note(e.what());
  } catch (...) {
    note("the engine: an exception of unknown type");
  }
}

run_report serve_processes(process_options const& options, run_plan const& plan,
                           process_memory& memory, run_observer* observer) {
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
  core->shared().on_failure = [&] {
    note_failure(all, core->shared().failure.error);
    if (observer != nullptr) observer->failed(run.report(), all.text);
    ::_exit(1);
  };
  if (observer == nullptr) return run.run();
  observer->begun(store, core->shared().record, [&run] { return run.report(); });
  run_report report = run.run();
  observer->ended(report);
  return report;
}

}  // namespace outsize::bsp::process
