// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Pages of a container in a file of the user's, as other programs can read them; and what all files
// that keep pages need: space, syncs that cannot be repeated, names that go if not all is made.
//
// Invariant and thread rule: page_space's. Layer: page.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/block/file_blocks.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file.hpp>
#include <outsize/page/detail/page_space.hpp>

namespace outsize::detail {

/// Asks whether the file system of a file has so much space now; of what is no file that has its
/// name, nothing is known. @throws out_of_space if not.
void require_file_space(io::file const& file, std::uint64_t bytes);

/// Syncs a file until that fails once: what is on disk then nobody knows, and the system, which
/// tells of a failure once, would let the next sync succeed though something is lost.
class lasting_sync {
 public:
  /// `file` must outlive it.
  explicit lasting_sync(io::file& file) noexcept : file_(file) {}

  /// @throws io_error; from then on always (EIO).
  void operator()();
  /// @throws io_error (EIO) if it has failed.
  void check() const;

 private:
  io::file& file_;
  bool has_failed_ = false;
};

/// The path of a file that was made, which goes with this unless it is kept: so that where not all
/// could be made there is none that bars the way.
class new_path {
 public:
  /// @param path  Empty: of no file.
  explicit new_path(std::string path) noexcept : path_(std::move(path)) {}
  new_path(new_path const&) = delete;
  new_path& operator=(new_path const&) = delete;
  ~new_path();

  void keep() noexcept { path_.clear(); }

 private:
  process_mark process_;
  std::string path_;
};

/// Pages of a file that is the user's. The space behind the last one is allocated in steps;
/// settle() gives it back. A page far behind that has space when it is written: the file has holes.
/// Where pages are gone, the file is cut before others come: what was in them must not come
/// back.
class file_pages final : public page_space {
 public:
  /// The file's pages, the last of which may be cut short. @param page_bytes  A multiple of the
  /// file's alignment. @throws io_error.
  file_pages(io::file_ptr file, io::access mode, std::size_t page_bytes);

  block::block_device& device() noexcept override { return blocks_; }
  std::uint64_t begin() const noexcept override { return 0; }
  std::uint64_t end() const noexcept override { return count_; }
  block::block_id place(std::uint64_t page) const noexcept override;
  block::block_id place_to_change(std::uint64_t page) override;
  void require_room(std::uint64_t begin, std::uint64_t end) override;
  void append() override;
  void prepend() override;
  void shrink(std::uint64_t begin, std::uint64_t end) noexcept override;
  void check_writable() const override;
  bool is_lasting() const noexcept override { return true; }
  bool is_resized() const noexcept override { return is_grown_; }
  /// Gives the file this length, if it may be written.
  void settle(std::uint64_t bytes) override;

 private:
  io::file_ptr file_;
  io::access mode_;
  block::file_blocks blocks_;
  lasting_sync sync_;
  std::size_t page_bytes_;
  std::uint64_t count_;
  std::uint64_t used_bytes_;  // behind them nothing has been written
  std::uint64_t allocated_bytes_;
  bool is_grown_ = false;
};

}  // namespace outsize::detail
