// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Frames of the arenas of processes: one file in memory, which the engine maps once and each
// process where its arena wants them; or a file of each process on a disk, mapped likewise, whose
// pages the kernel moves. And the arena of such a process, as the engine sees it.
//
// A frame is cleared, or read from disk, before it serves another arena. Invariant: a frame is
// free, or behind one piece of one arena. Any thread. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <outsize/bsp/detail/arena_memory.hpp>
#include <outsize/bsp/process/control.hpp>

namespace outsize::io::detail {
class open_descriptor;
}  // namespace outsize::io::detail

namespace outsize::bsp::process {

/// A file in memory, or an unnamed one on a disk, shared with other processes by its descriptor.
class shared_memory {
 public:
  /// In memory, full of zeros. @throws std::system_error.
  shared_memory(char const* name, std::uint64_t bytes);
  /// On a disk, full of holes. @param reads_ahead  A page that is touched brings others too.
  /// @throws std::system_error, io_error.
  static std::unique_ptr<shared_memory> in_directory(std::string const& directory,
                                                     std::uint64_t bytes, bool reads_ahead);
  shared_memory(shared_memory const&) = delete;
  shared_memory& operator=(shared_memory const&) = delete;
  ~shared_memory();

  int descriptor() const noexcept;
  std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }
  /// Its bytes that are in memory, mapped by a process or not; 0 of a file on a disk.
  std::uint64_t allocated_bytes() const noexcept;
  /// A program that this process becomes keeps the descriptor.
  void let_inherit() const noexcept;

  /// Makes bytes zeros that may be used, and takes space for them on the disk.
  /// @param is_fresh  They were never used. @throws out_of_space, io_error.
  void prepare(std::uint64_t offset, std::uint64_t bytes, bool is_fresh);
  /// Bytes are of no use any more: they need not be written, and leave their space on the disk.
  void give_up(std::uint64_t offset, std::uint64_t bytes) noexcept;

 private:
  using file_ptr = std::unique_ptr<io::detail::open_descriptor const>;

  shared_memory(file_ptr file, std::string directory, std::uint64_t bytes);

  file_ptr file_;
  std::string directory_;  // empty: in memory
  std::byte* data_ = nullptr;
  std::uint64_t bytes_;
};

class frame_pool {
 public:
  frame_pool(shared_memory& memory, std::uint64_t frame_bytes);

  /// A frame, full of zeros if it is to be cleared. @pre one is free.
  /// @throws out_of_space, io_error of one on a disk.
  std::uint32_t take(bool clears);
  void give(std::uint32_t frame) noexcept;
  std::span<std::byte> bytes_of(std::uint32_t frame) const noexcept {
    return memory_.bytes().subspan(frame * frame_bytes_, frame_bytes_);
  }

 private:
  shared_memory& memory_;
  std::uint64_t frame_bytes_;
  std::mutex mutex_;         // guards the following members
  std::uint32_t fresh_ = 0;  // frames from here on were never used
  std::uint32_t end_;
  std::vector<std::uint32_t> free_;
};

/// The arena of a process.
class remote_arena final : public detail::arena_memory {
 public:
  remote_arena(frame_pool& pool, header& all, std::uint32_t rank)
      : pool_(pool), all_(all), rank_(rank) {}

  void populate(std::size_t first_piece, std::size_t pieces) override;
  bool populate_to_read(std::size_t first_piece, std::size_t pieces) override;
  void drop(std::size_t piece) noexcept override;
  std::span<std::byte> bytes_of(std::size_t piece) const noexcept override;
  std::span<std::uint64_t const> used_pages() const noexcept override;

 private:
  void provide(std::size_t first_piece, std::size_t pieces, bool clears);

  frame_pool& pool_;
  header& all_;
  std::uint32_t rank_;
};

}  // namespace outsize::bsp::process
