// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The thread that moves contexts between memory and disks while processors compute.
//
//   frames:  | running | running | coming in ▶ | ◀ going out | present, waits |
//
// It brings in the next processor as soon as frames are free, and lets go pieces of those that wait
// as more are needed: a piece at a time, so that the others stay. Once memory has been short, it
// makes as much free ahead as those that compute may still ask for. A piece that goes out is
// compared by the team, its changed grains are written, its frame is dropped when they are on disk.
//
// Those that compute and need more memory come first, and may push out those that are ready; others
// leave free the memory that those which compute may still allocate, so that they are seldom pushed
// out again.
//
// Invariant: bytes of frames in use + free bytes = all frames. At most one processor in need, and
// one other, take free frames at a time (more that are half present would wait for one another).
// Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 2, steps 1 and 6; its further
// work (1): overlapping.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/board.hpp>
#include <outsize/bsp/detail/processor_context.hpp>

namespace outsize::bsp::detail {

class pager {
 public:
  /// Moves `contexts`, one for each rank of `shared`. All outlive it. Starts the thread.
  pager(storage& store, board& shared, std::span<std::unique_ptr<context> const> contexts);
  pager(pager const&) = delete;
  pager& operator=(pager const&) = delete;
  /// Waits for its requests.
  ~pager();

 private:
  using lock = std::unique_lock<std::mutex>;
  struct piece_of {
    std::uint32_t rank;
    std::size_t piece;
    bool has_failed = false;
  };
  struct transfer {  ///< The requests of one piece.
    piece_of what;
    std::size_t requests = 0;  ///< Not ended yet.
  };

  void work() noexcept;
  void note_moving(std::uint32_t rank, std::ptrdiff_t pieces) noexcept;
  bool settle(lock& held);
  bool serve(std::optional<std::uint32_t>& coming, bool is_in_need, lock& held);
  bool bring_in(std::optional<std::uint32_t>& coming, std::size_t free, lock& held);
  bool make_room(std::uint32_t coming, bool is_in_need, std::size_t free, lock& held);
  bool keep_room(lock& held);
  std::size_t reserved_pieces() const;
  void let_go(std::uint32_t victim, std::size_t most, lock& held);
  std::size_t free_pieces(bool is_in_need) const;
  std::vector<std::size_t> next_absent(context const& of, std::size_t most) const;
  void finish_coming(std::uint32_t rank);
  void issue_reads(std::uint32_t rank, std::vector<std::size_t> const& pieces);
  void issue_writes(std::uint32_t rank, std::vector<std::size_t> const& pieces);
  void issue_all(std::uint32_t rank, std::vector<std::size_t> const& pieces,
                 std::vector<std::vector<grain_run>> const& runs, bool is_write,
                 std::exception_ptr const& error);
  void issue(piece_of what, std::vector<grain_run> const& runs, bool is_write);
  void request_ended(transfer* of, std::uint32_t disk, io::request const& request, io::outcome how);
  void note_failure(std::exception_ptr const& error, bool is_write);
  void piece_ended(piece_of what);

  storage& store_;
  board& shared_;
  std::span<std::unique_ptr<context> const> contexts_;
  std::uint64_t const piece_bytes_;
  std::size_t const batch_;  // pieces
  std::size_t const window_;

  // With the lock of the run:
  std::optional<std::uint32_t> in_need_, coming_;  // whose pieces take frames
  std::vector<std::size_t> moving_;                // pieces of each rank that arrive or leave
  std::size_t arriving_ = 0, leaving_ = 0;
  std::vector<piece_of> ended_;                      // pieces whose requests have ended
  std::exception_ptr write_failure_, read_failure_;  // of requests
  bool cannot_write_ = false;
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace outsize::bsp::detail
