// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How the memory of a run of virtual processors is divided, said before anything runs.
//
//   memory:  | messages | stacks | frames: k contexts run, one comes, one goes |
//
// Values and functions of values. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/bsp/run_history.hpp>

namespace outsize::bsp {

/// Choices for a run. All may be left as they are.
struct run_options {
  /// Bytes for contexts and messages together, out of the storage's budget. 0: all that can be had.
  std::uint64_t memory_bytes = 0;
  /// The most bytes that one processor may allocate. 0: the largest contexts that fit k + 2 times,
  /// or once for each processor.
  std::uint64_t context_bytes = 0;
  /// k: processors that compute at the same time. 0: the number of the storage's threads.
  std::uint32_t workers = 0;
  /// Addresses for the stack of each processor; its used part stays in memory.
  std::size_t stack_bytes = 256 * 1024;
};

/// The division of a run's memory.
struct run_plan {
  std::uint32_t count = 0;    ///< v: virtual processors.
  std::uint32_t workers = 0;  ///< k: of these that compute at the same time.
  std::uint64_t memory_bytes = 0;
  std::uint64_t message_bytes = 0;  ///< For messages; others go to the disks.
  std::uint64_t stack_bytes = 0;    ///< Counted for the used parts of all stacks.
  std::uint64_t frame_bytes = 0;    ///< For contexts.
  std::uint64_t context_bytes = 0;  ///< The most that one processor may allocate.
  std::size_t stack_address_bytes = 0;
  /// Contexts are files that the kernel pages: they are not moved, nor counted in memory_bytes.
  bool is_paged_by_kernel = false;

  /// The part of memory_bytes that contexts and stacks take.
  std::uint64_t resident_bytes() const noexcept {
    return stack_bytes + (is_paged_by_kernel ? 0 : frame_bytes);
  }
  /// The most disk space that contexts take; messages come on top.
  std::uint64_t most_disk_bytes() const noexcept { return count * context_bytes; }
  /// Returns text, a line for each part.
  std::string explain() const;
};

/// Divides memory among `count` processors.
/// @throws budget_error if it is too little, or options.context_bytes does not fit k + 2 times;
/// std::invalid_argument if `count` is 0.
run_plan plan_run(storage& store, std::uint32_t count, run_options const& options);
/// The same of `options.memory_bytes`. @param beside_bytes  Of each processor, that stay in memory.
run_plan plan_memory(std::uint32_t count, run_options const& options, std::uint64_t beside_bytes);
/// The same for contexts in files that the kernel pages: each may have options.context_bytes, or
/// options.memory_bytes. @throws budget_error if messages and stacks do not fit.
run_plan plan_mapped(std::uint32_t count, run_options const& options, std::uint64_t beside_bytes);

/// Bytes that one virtual processor has caused to move.
struct processor_counts {
  std::uint64_t swapped_out_bytes = 0;  ///< Bytes of its context, written.
  std::uint64_t swapped_in_bytes = 0;   ///< Bytes of its context, read.
  std::uint64_t sent_bytes = 0;         ///< In messages, wherever they were kept.
  std::uint64_t operations = 0;         ///< Collective operations that it took part in.
};

/// The work of a run.
struct run_report {
  run_plan plan;
  std::vector<processor_counts> processors;  ///< By rank.
  std::uint64_t messages_written_bytes = 0;  ///< To disks.
  std::uint64_t messages_read_bytes = 0;
  run_history history = {};  ///< By processor and superstep; its sums are those above.

  processor_counts total() const noexcept;
};

}  // namespace outsize::bsp
