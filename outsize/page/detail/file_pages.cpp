// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/file_pages.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::uint64_t most_added_bytes = 256_MiB;  // of a file at once

}  // namespace

void require_file_space(io::file const& file, std::uint64_t bytes) {
  std::uint64_t free_bytes = UINT64_MAX;
  try {
    free_bytes = io::free_space_bytes(file.name());
  } catch (io_error const&) {
    return;  // of what has no such name nobody knows
  }
  if (free_bytes < bytes) throw out_of_space(file.name(), free_bytes, bytes);
}

new_path::~new_path() {
  if (!process_.is_current()) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void lasting_sync::operator()() {
  check();
  has_failed_ = true;
  file_.sync();
  has_failed_ = false;
}

void lasting_sync::check() const {
  if (has_failed_) throw io_error(EIO, "sync", file_.name());
}

file_pages::file_pages(io::file_ptr file, io::access mode, std::size_t page_bytes)
    : file_(std::move(file)),
      mode_(mode),
      blocks_(*file_),
      sync_(*file_),
      page_bytes_(page_bytes),
      count_(div_up<std::uint64_t>(file_->size_bytes(), page_bytes)),
      used_bytes_(file_->size_bytes()),
      allocated_bytes_(used_bytes_) {
  OUTSIZE_ASSERT(page_bytes % file_->alignment_bytes() == 0);
}

block::block_id file_pages::place(std::uint64_t page) const noexcept {
  return {.offset_bytes = page * page_bytes_,
          .disk = 0,
          .length_bytes = static_cast<std::uint32_t>(page_bytes_)};
}

void file_pages::append() {
  std::uint64_t const begin = count_ * page_bytes_;
  if (begin < used_bytes_) {  // pages that are gone have left something there
    file_->resize(begin);
    used_bytes_ = allocated_bytes_ = begin;
  }
  ++count_;
  is_grown_ = true;
}

block::block_id file_pages::place_to_change(std::uint64_t page) {
  std::uint64_t const begin = page * page_bytes_;
  bool const follows = begin <= round_up<std::uint64_t>(allocated_bytes_, page_bytes_);
  if (follows && begin + page_bytes_ > allocated_bytes_) {
    // Doubled, so that a file grows in few steps, but not by more than is worth its while.
    std::uint64_t const step = std::max<std::uint64_t>(
        round_down(std::min(begin, most_added_bytes), page_bytes_), page_bytes_);
    allocated_bytes_ = begin + file_->allocate_some(begin, page_bytes_, step);
  }
  used_bytes_ = std::max(used_bytes_, begin + page_bytes_);
  return place(page);
}

void file_pages::require_room(std::uint64_t, std::uint64_t end) {
  std::uint64_t const bytes = page_space_bytes(end, page_bytes_);
  std::uint64_t const there = std::max(allocated_bytes_, count_ * page_bytes_);
  require_file_space(*file_, bytes - std::min(bytes, there));
}

void file_pages::prepend() {
  OUTSIZE_ASSERT(false);  // what is in a file would have to move
}

void file_pages::shrink(std::uint64_t begin, std::uint64_t end) noexcept {
  OUTSIZE_ASSERT(begin == 0);
  count_ = std::min(count_, end);
}

void file_pages::check_writable() const {
  if (mode_ == io::access::read_only) throw io_error(EACCES, "change", file_->name());
}

void file_pages::settle(std::uint64_t bytes) {
  if (mode_ == io::access::read_only) return;
  file_->resize(bytes);
  allocated_bytes_ = bytes;
  used_bytes_ = std::min(used_bytes_, bytes);
  sync_();
  is_grown_ = false;
}

}  // namespace outsize::detail
