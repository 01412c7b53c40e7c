// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where the pages of a container lie: blocks of equal length in a row that grows and shrinks at its
// ends, on the disks of a storage or in a file of the user's.
//
//   disk_pages   blocks spread over the disks by a placement, allocated when a page is changed
//                first, and freed when it leaves
//   file_pages   page i at i times its length in a file, so that other programs can read it
//   kept_pages   anywhere in a kept_file (kept_file.hpp); elsewhere, once they are changed
//
// Invariant: places of pages begin() to end() - 1 that something was written to are allocated and
// disjoint. Says where pages are, not what is in them. One thread at a time. Layer: container.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/process_mark.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/file_blocks.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file.hpp>

namespace outsize::detail {

/// Places for pages; see the top of this file.
class page_space {
 public:
  page_space() = default;
  page_space(page_space const&) = delete;
  page_space& operator=(page_space const&) = delete;
  virtual ~page_space() = default;

  virtual block::block_device& device() noexcept = 0;
  /// The number of the first page, and of the one behind the last.
  virtual std::uint64_t begin() const noexcept = 0;
  virtual std::uint64_t end() const noexcept = 0;
  /// The block of a page; none, of a page on disks or of a kept_file that nothing was written to.
  /// @pre begin() <= page < end().
  virtual block::block_id place(std::uint64_t page) const noexcept = 0;
  /// Where a page that will be changed is to be written: its place, or if that must stay as it is a
  /// new one, which is its place from now on. @throws out_of_space, budget_error, io_error; its
  /// place is as before then.
  virtual block::block_id place_to_change(std::uint64_t page) { return place(page); }
  /// Takes the places of pages begin to end - 1 now, so that no change of them can be out of space.
  /// Has no effect on pages in a file. @throws out_of_space, io_error; nothing is taken
  /// then.
  virtual void take_places(std::uint64_t, std::uint64_t) {}
  /// Asks for the space of pages begin to end - 1, and the memory of their index; takes neither.
  /// To be called before many pages are added. @throws out_of_space, budget_error.
  virtual void require_room(std::uint64_t, std::uint64_t) {}
  /// Whether something was written to a page before this was made.
  virtual bool is_written(std::uint64_t) const { return true; }
  /// What is in a page will not be needed any more.
  virtual void vacate(std::uint64_t) noexcept {}
  /// Adds a page at the end, which nothing has been written to. @throws budget_error, io_error; all
  /// is as before then.
  virtual void append() = 0;
  /// Adds one before the first. @pre begin() > 0; not of a file.
  virtual void prepend() = 0;
  /// Gives up all other pages. @pre no transfer on them is under way; of a file, begin is 0.
  virtual void shrink(std::uint64_t begin, std::uint64_t end) noexcept = 0;
  /// Sets its pages aside, which are still there but cannot be asked for, and has those again that
  /// were set aside before; none, the first time. @pre begin() is 0; not of a plain file.
  /// @throws std::bad_alloc, the first time; all is as before then.
  virtual void swap_aside();
  /// To be called before pages are changed, added or given up. @throws io_error (EACCES) if what is
  /// there may only be read; one that is kept may have to be marked as open first.
  virtual void check_writable() const {}

  // ---- of pages that outlive the container ----

  /// Whether they do.
  virtual bool is_lasting() const noexcept { return false; }
  /// Whether what was settled may not be changed where it lies.
  virtual bool keeps_what_was_settled() const noexcept { return false; }
  /// Whether pages have come or gone since it was made or settled.
  virtual bool is_resized() const noexcept { return false; }
  /// Makes all that has been written durable, as the first `bytes` bytes of the pages.
  /// @pre no transfer is under way. @throws io_error; always, once a sync has failed.
  virtual void settle(std::uint64_t) {}
  /// The same, once more if need be, when nothing will be changed any more. @throws io_error.
  virtual void close(std::uint64_t) {}
};

/// Pages on the disks of a storage, some side by side in each block, which is allocated when one of
/// them is changed first. Memory: a block_id for each block, of the storage's budget.
class disk_pages final : public page_space {
 public:
  /// None yet. `store` must outlive it. @param page_bytes  A multiple of the disks' alignment, if
  /// there are several in a block; else rounded up to it.
  /// @param first  The number that the first page will have; a multiple of block_pages.
  disk_pages(storage& store, std::size_t page_bytes, std::unique_ptr<block::placement> where,
             std::uint64_t first = 0, std::uint64_t block_pages = 1);

  block::block_device& device() noexcept override { return store_; }
  std::uint64_t begin() const noexcept override { return first_; }
  std::uint64_t end() const noexcept override { return end_; }
  block::block_id place(std::uint64_t page) const noexcept override;
  block::block_id place_to_change(std::uint64_t page) override;
  void take_places(std::uint64_t begin, std::uint64_t end) override;
  void require_room(std::uint64_t begin, std::uint64_t end) override;
  void append() override;
  void prepend() override;
  void shrink(std::uint64_t begin, std::uint64_t end) noexcept override;
  void swap_aside() override;

 private:
  std::size_t block_of(std::uint64_t page) const noexcept {
    return static_cast<std::size_t>((page - first_) / block_pages_);
  }
  std::size_t block_bytes() const noexcept {
    return static_cast<std::size_t>(page_bytes_ * block_pages_);
  }
  void make_room_in_index();

  storage& store_;
  std::uint64_t first_;
  std::uint64_t end_;
  std::size_t page_bytes_;
  std::uint64_t block_pages_;
  grant index_;
  block::block_list blocks_;
  std::unique_ptr<block::block_list> aside_;  // once some were
  std::uint64_t aside_end_ = 0;
};

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
