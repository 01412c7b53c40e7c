// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The library in a process of a run: its memory, and its calls of the engine.
//
// A process runs only when the engine gives it the turn. While it waits it runs this code alone, on
// memory of this library and its stack, with signals blocked: everything else may be on disk.
// Without an engine (a program that was started by itself) memory is private, and MPI_Init refuses.
//
// Freestanding: no exceptions, no standard library of C++. One thread. Layer: bsp.

#include <cstddef>
#include <cstdint>

#include <outsize/bsp/detail/arena_heap.hpp>
#include <outsize/bsp/process/control.hpp>

namespace outsize::bsp::mpi {

using process::call;

/// The memory shared with the engine; nullptr: there is none.
extern process::header* shared;
extern process::rank_control* control;
extern std::uint32_t rank_in_world;

/// Gives the engine its turn with a call, whose arguments stand in *control, and waits for the next
/// one. Afterwards memory is as it was.
void ask(call what);
/// The same with arguments.
template <typename... Arguments>
std::uint64_t ask(call what, Arguments... arguments) {
  std::uint64_t const all[] = {static_cast<std::uint64_t>(arguments)...};
  for (std::size_t i = 0; i < sizeof...(arguments); ++i) control->arguments[i] = all[i];
  ask(what);
  return control->results[0];
}

/// Refuses a call before MPI_Init or after MPI_Finalize.
void check_started(char const* call);

/// Ends this process, and so the run, with a message that outsize-run prints.
[[noreturn, gnu::format(printf, 1, 2)]] void refuse(char const* format, ...);
/// The same, with an exit code other than 1.
[[noreturn]] void end_run(int code, char const* reason);

/// The address by which the engine reaches memory: of the arena, or of globals whose frames are the
/// arena's. 0: it cannot.
std::uint64_t reachable(void const* memory) noexcept;

/// Bytes that are all in the engine's reach will be overwritten before they are read: if contexts
/// go to disk, whole grains of them become zeros, which do not.
void discard(std::byte* bytes, std::uint64_t length) noexcept;

}  // namespace outsize::bsp::mpi
