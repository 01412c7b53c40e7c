// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A run whose processors are processes: its plan, the memory that they share with the engine, and
// the engine itself. outsize-run starts the processes. Layer: bsp.
// Decision: docs/decisions/0072-ranks-are-processes.md.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <outsize/base/machine.hpp>
#include <outsize/block/disk_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/run_recorder.hpp>
#include <outsize/bsp/process/control.hpp>
#include <outsize/bsp/process/frame_file.hpp>
#include <outsize/bsp/run_plan.hpp>

namespace outsize::bsp::process {

/// Choices for a run of processes.
struct process_options {
  std::uint32_t count = 1;
  std::uint32_t workers = 0;        ///< 0: the threads that the machine has for this process.
  std::uint64_t memory_bytes = 0;   ///< 0: half of the memory that the machine has for it.
  std::uint64_t context_bytes = 0;  ///< 0: as run_options::context_bytes.
  std::vector<disk_options> disks = {};
  /// Arenas are files in the disks' directories, which the kernel pages: nothing waits for memory,
  /// and all ranks compute at the same time if `workers` is 0. The baseline of comparisons.
  bool maps_files = false;
};

/// Divides memory. Private memory of each process is counted with 256 KiB. Each context in a file
/// may have all the memory, or options.context_bytes. @throws as plan_run(); plan_error if limits
/// do not allow all processes.
run_plan plan_processes(process_options const& options);
/// Checks that the processes and the threads of a run can be started. @throws plan_error, with the
/// numbers.
void check_tasks(run_plan const& plan, startable_tasks const& allowed);

/// The memory of a run, before there is a thread or a process.
class process_memory {
 public:
  /// @throws std::system_error; std::invalid_argument if a disk is no directory for the files.
  process_memory(process_options const& options, run_plan const& plan);

  header& shared() noexcept { return *reinterpret_cast<header*>(control_.bytes().data()); }
  /// The frames of all ranks, or of each one its own.
  std::vector<std::unique_ptr<shared_memory>> const& frames() const noexcept { return frames_; }
  /// Bytes of memory files, in memory.
  std::uint64_t allocated_bytes() const noexcept;
  /// The entry in the environment of a process. It inherits the descriptors that this names from
  /// the one that calls.
  std::string environment_of(std::uint32_t rank) const;

 private:
  shared_memory control_;
  std::vector<std::unique_ptr<shared_memory>> frames_;
};

/// Notes why a run fails in the shared header: "no memory …", or as the exception says.
void note_failure(header& all, std::exception_ptr const& failure) noexcept;

/// Is told of a run by its engine.
class run_observer {
 public:
  run_observer() = default;
  run_observer(run_observer const&) = delete;
  run_observer& operator=(run_observer const&) = delete;
  virtual ~run_observer() = default;

  /// The run begins. @param report_now  Returns the work so far. It may be called, and `store` and
  /// `record` used, until the call of ended() or failed() returns.
  virtual void begun(storage& store, detail::run_recorder const& record,
                     std::function<run_report()> report_now) = 0;
  /// All processes have ended. Its exceptions are failures of the run.
  virtual void ended(run_report const& report) = 0;
  /// The run has failed, and the engine ends after this call.
  virtual void failed(run_report const& report, std::string const& reason) noexcept = 0;
};

/// Serves all processes until they have ended. If the run fails, the reason is in the shared
/// header, and this process ends at once with code 1: its files have no names.
run_report serve_processes(process_options const& options, run_plan const& plan,
                           process_memory& memory, run_observer* observer = nullptr);

}  // namespace outsize::bsp::process
