// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/page_space.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::uint64_t least_index_step_bytes = 256, most_index_step_bytes = 4_KiB;
constexpr std::uint64_t most_added_bytes = 256_MiB;  // of a file at once

/// What so many pages take, or more than there can be.
std::uint64_t bytes_of(std::uint64_t pages, std::uint64_t page_bytes) noexcept {
  return pages > UINT64_MAX / page_bytes ? UINT64_MAX : pages * page_bytes;
}

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

void page_space::swap_aside() { OUTSIZE_ASSERT(false); }

disk_pages::disk_pages(storage& store, std::size_t page_bytes,
                       std::unique_ptr<block::placement> where, std::uint64_t first,
                       std::uint64_t block_pages)
    : store_(store),
      first_(first),
      end_(first),
      page_bytes_(page_bytes),
      block_pages_(block_pages),
      index_(store.memory().take(0, "index of pages")),
      blocks_(store, index_, std::move(where)) {
  OUTSIZE_ASSERT(first % block_pages == 0);
  OUTSIZE_ASSERT(block_pages == 1 || page_bytes % store.alignment_bytes() == 0);
}

block::block_id disk_pages::place(std::uint64_t page) const noexcept {
  std::uint64_t const index = page - first_;
  auto id = blocks_[index / block_pages_];
  if (block_pages_ == 1 || !id) return id;
  id.offset_bytes += index % block_pages_ * page_bytes_;
  id.length_bytes = static_cast<std::uint32_t>(page_bytes_);
  return id;
}

block::block_id disk_pages::place_to_change(std::uint64_t page) {
  if (!blocks_[block_of(page)]) blocks_.fill(block_of(page), block_bytes());
  return place(page);
}

void disk_pages::take_places(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  std::vector<std::size_t> missing;
  for (std::size_t block = block_of(begin); block <= block_of(end - 1); ++block)
    if (!blocks_[block]) missing.push_back(block);
  if (missing.size() > 1)
    store_.require_space(bytes_of(missing.size(), block_bytes()), blocks_.where());
  std::size_t filled = 0;
  try {
    for (; filled < missing.size(); ++filled) blocks_.fill(missing[filled], block_bytes());
  } catch (...) {
    while (filled > 0) blocks_.vacate(missing[--filled]);
    throw;
  }
}

void disk_pages::require_room(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const blocks = div_up(end - begin, block_pages_);
  std::uint64_t const more = blocks - std::min<std::uint64_t>(blocks, blocks_.size());
  std::uint64_t const index_bytes = bytes_of(more, sizeof(block::block_id));
  std::uint64_t const have_bytes = index_.free_bytes() + store_.memory().free_bytes();
  store_.require_space(bytes_of(blocks_.empty_count() + more, block_bytes()), blocks_.where());
  if (have_bytes < index_bytes) throw budget_error(index_.asker(), have_bytes, index_bytes);
}

void disk_pages::append() {
  if ((end_ - first_) % block_pages_ == 0) {
    make_room_in_index();
    blocks_.append_empty();
  }
  ++end_;
}

void disk_pages::prepend() {
  OUTSIZE_ASSERT(first_ > 0 && block_pages_ == 1);
  make_room_in_index();
  blocks_.prepend_empty();
  --first_;
}

void disk_pages::shrink(std::uint64_t begin, std::uint64_t end) noexcept {
  OUTSIZE_ASSERT(begin == first_ || block_pages_ == 1);
  end_ = std::min(end_, std::max(end, first_));
  while (blocks_.size() > div_up(end_ - first_, block_pages_)) blocks_.free_back();
  for (; first_ < begin && !blocks_.empty(); ++first_) blocks_.free_front();
  end_ = std::max(end_, first_);
}

void disk_pages::swap_aside() {
  OUTSIZE_ASSERT(first_ == 0);
  if (!aside_) aside_ = std::make_unique<block::block_list>(store_, index_, nullptr);
  blocks_.swap_blocks(*aside_);
  std::swap(end_, aside_end_);
}

void disk_pages::make_room_in_index() {
  if (index_.free_bytes() < sizeof(block::block_id))
    // Doubled, so that many small containers do with little.
    index_.extend(std::clamp(index_.total_bytes(), least_index_step_bytes, most_index_step_bytes));
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
  std::uint64_t const bytes = bytes_of(end, page_bytes_);
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
