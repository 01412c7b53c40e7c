// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Runs of virtual processors: coarse-grained parallel programs for the number of processors that
// their data need, on the few of one machine, with contexts and messages on its disks.
//
//   bsp::run(store, 64, [](bsp::processor& p) { … });
//
// Each processor is a fiber with an arena of its own (allocator.hpp); k of them compute at once.
// Layer: bsp. Source: Nikseresht, Hutchinson, Maheshwari: Experiments with a parallel external
// memory system (PEMS), HiPC 2007. Decision: docs/decisions/0071-virtual-processors.md.

#include <cstdint>
#include <functional>

#include <outsize/block/storage.hpp>
#include <outsize/bsp/bsp_error.hpp>
#include <outsize/bsp/processor.hpp>
#include <outsize/bsp/run_plan.hpp>

namespace outsize::bsp {

/// Runs `program` on `count` virtual processors, and returns when all have ended.
///
/// I/Os:    contexts in use that do not stay in memory: (c + d)/B a processor and superstep, of
///          whose c bytes d have changed; messages see processor.hpp.
/// Memory:  plan_run() says how it is divided; taken from the storage at the beginning.
/// Disk:    contexts in use, messages that do not fit into memory, and the old contents of pieces
///          that messages still read; all freed at the end.
/// Threads: k workers, on each of which its processors take turns, and one that moves memory. A
///          processor must not wait for another one but by its own functions (a lock held while it
///          waits there may be wanted by the next on the same thread).
/// Errors:  budget_error, std::invalid_argument (plan_run()); bsp_error that names the processor
///          which failed first, with its exception nested, or tells that all wait; io_error,
///          out_of_space, corrupt_block of the disks. Before it throws all processors have unwound
///          (functions that wait throw `cancelled` to them), but those whose memory cannot be read
///          any more: the objects of these are not destroyed.
/// Source:  PEMS, 2007, section 2 (simulation).
/// Checked: virtual_processors_test.cpp.
run_report run(storage& store, std::uint32_t count, std::function<void(processor&)> const& program,
               run_options const& options = {});

}  // namespace outsize::bsp
