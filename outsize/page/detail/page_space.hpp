// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where the pages of a container lie: blocks of equal length in a row that grows and shrinks at its
// ends, on the disks of a storage or in a file of the user's.
//
//   disk_pages   blocks spread over the disks by a placement, allocated when a page is changed
//                first, and freed when it leaves (disk_pages.hpp)
//   file_pages   page i at i times its length in a file, so that other programs can read it
//                (file_pages.hpp)
//   kept_pages   anywhere in a kept_file (kept_file.hpp); elsewhere, once they are changed
//
// Invariant: places of pages begin() to end() - 1 that something was written to are allocated and
// disjoint. Says where pages are, not what is in them. One thread at a time. Layer: page.

#include <cstdint>

#include <outsize/block/block_id.hpp>

namespace outsize::block {
class block_device;
}

namespace outsize::detail {

/// What so many pages take, or more than there can be.
inline std::uint64_t page_space_bytes(std::uint64_t pages, std::uint64_t page_bytes) noexcept {
  return pages > UINT64_MAX / page_bytes ? UINT64_MAX : pages * page_bytes;
}

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

}  // namespace outsize::detail
