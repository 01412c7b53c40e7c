// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The memory that the engine shares with the processes of a run: by it a process calls the engine,
// and learns which frames are behind its arena.
//
//   | header | rank 0: calls, frames, parts, heap tables | rank 1: … |
//
//   process:  writes a call ── turn = engine ── waits ┄┄┄┄┄┄┄┄┄┄┄ maps its frames, goes on
//   engine:   ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ serves the call, for other ranks too ── turn = process
//
// The library in the processes is compiled from this header as well, so it links nothing. Sizes are
// those of one machine and one build: both sides come from the same build, which `magic` checks.
//
// Invariant: a region is written by the side whose turn it is; is_dead by the launcher alone.
// Layer: bsp.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace outsize::bsp::process {

inline constexpr std::uint64_t magic = 0x6f757473697a6535;  // changes with the layout
inline constexpr char const* environment_name = "OUTSIZE_BSP";
inline constexpr std::size_t most_text = 512;
inline constexpr std::int64_t any = -1;
inline constexpr std::uint64_t user_operation = 1;  // in a reduction: the program's own

/// The calls of a process, with their arguments.
enum class call : std::uint32_t {
  none,
  enter,      ///< first page, pages → 1: usable
  leave,      ///< first page, pages
  begin,      ///< group, number, root, item bytes, items, fold, 1: it ends when all have begun it;
              ///< text: the function
  barrier,    ///< group
  put_parts,  ///< group, number; parts: to member, from address
  put_to_many,  ///< group, number, address, bytes; parts: to member
  wait_parts,   ///< group, number, count → parts: source, bytes
  take_parts,   ///< first, count, of those that wait_parts gave; parts: address, at their places
  send,         ///< group, to, tag, address, bytes, synchronous → ticket of a synchronous one
  wait_taken,   ///< ticket → 1 once it was taken; argument 1: whether to wait
  find,         ///< group, source, tag, whether to wait → found, source, tag, bytes
  match,        ///< → parts: the posted receives for which messages have come, by their places
  receive,      ///< group, source, tag, address, most bytes → source, tag, bytes; waits
  has_ended,    ///< group, number, parts (0: all have begun it) → 1: the operation has
  wait_any,  ///< parts: receipt, 0; or number, group + 1, parts. Waits until a message for a posted
             ///< receive has come, a message with one of the receipts was taken, or one of the
             ///< operations has ended
  new_group,   ///< group, number, color; parts: members, as ranks of `group` → group
  drop_group,  ///< group
  yield,       ///< 1: the rank does other things between its polls
};

/// A part of an exchange, in the memory of the process.
struct part {
  std::uint64_t member = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// How far a process has come. One that has failed exits, and its text says why.
enum class life : std::uint32_t { begun, started, finalized, failed };

/// The words between a process and the engine.
struct alignas(64) rank_control {
  static constexpr std::uint32_t engine_turn = 0, process_turn = 1, nobodys_turn = 2;

  std::atomic<std::uint32_t> turn;
  std::atomic<std::uint32_t> is_dead;  ///< It has ended in order. Set by the launcher.
  std::atomic<life> now;
  call what;
  std::uint32_t part_count;
  std::uint32_t posted_count;
  std::uint32_t frames_changed;  ///< Since the process mapped them last.
  std::uint32_t poll_begins;     ///< The next call is the first of a poll.
  std::uint32_t piece_end;       ///< Pieces from here on have no frames.
  std::uint64_t arena_begin;     ///< The address in the process.
  std::uint64_t arguments[8];
  std::uint64_t results[4];
  char text[most_text];
};

/// The beginning of the memory, for all.
struct alignas(64) header {
  std::uint64_t magic_number;
  std::uint64_t region_bytes;  ///< For each rank.
  /// In a region.
  std::uint64_t frames_offset, mapped_offset, parts_offset, posted_offset, heap_offset;
  std::uint64_t arena_bytes, piece_bytes, context_bytes;
  std::uint64_t frame_bytes;  ///< All frames together.
  std::uint64_t part_capacity, posted_capacity;
  std::uint32_t count;
  std::uint32_t grain_bytes;                  ///< The unit in which contents are moved.
  std::atomic<std::uint32_t> moves_contents;  ///< Memory is short: contexts go to disk.
  std::uint32_t frames_are_on_disk;           ///< 1: pages come as they are touched,
  std::uint32_t reads_ahead;                  ///< and those behind them too.
  std::atomic<std::uint32_t> has_failed;
  char text[most_text];                  ///< Why.
  std::atomic<std::uint32_t> is_ending;  ///< The launcher ends the run, when the engine has ended.
  char ending_text[most_text];           ///< Why.
};

inline rank_control& control_of(header& all, std::uint32_t rank) noexcept {
  auto* const begin = reinterpret_cast<std::byte*>(&all);
  return *reinterpret_cast<rank_control*>(begin + sizeof(header) + rank * all.region_bytes);
}

template <typename T>
T* table_of(header& all, std::uint32_t rank, std::uint64_t offset) noexcept {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&control_of(all, rank)) + offset);
}
/// For each piece of the arena: the number of its frame, plus 1; 0: it has none.
inline std::uint32_t* frames_of(header& all, std::uint32_t rank) noexcept {
  return table_of<std::uint32_t>(all, rank, all.frames_offset);
}
/// The same as the process has mapped it.
inline std::uint32_t* mapped_of(header& all, std::uint32_t rank) noexcept {
  return table_of<std::uint32_t>(all, rank, all.mapped_offset);
}
inline part* parts_of(header& all, std::uint32_t rank) noexcept {
  return table_of<part>(all, rank, all.parts_offset);
}
/// The receives that the process has under way, in the order of its calls: member (source), address
/// (group), bytes (tag).
inline part* posted_of(header& all, std::uint32_t rank) noexcept {
  return table_of<part>(all, rank, all.posted_offset);
}
inline std::byte* heap_tables_of(header& all, std::uint32_t rank) noexcept {
  return table_of<std::byte>(all, rank, all.heap_offset);
}

}  // namespace outsize::bsp::process
