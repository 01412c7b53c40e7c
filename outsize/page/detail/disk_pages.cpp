// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/disk_pages.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::uint64_t least_index_step_bytes = 256, most_index_step_bytes = 4_KiB;

}  // namespace

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
    store_.require_space(page_space_bytes(missing.size(), block_bytes()), blocks_.where());
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
  std::uint64_t const index_bytes = page_space_bytes(more, sizeof(block::block_id));
  std::uint64_t const have_bytes = index_.free_bytes() + store_.memory().obtainable_bytes();
  store_.require_space(page_space_bytes(blocks_.empty_count() + more, block_bytes()),
                       blocks_.where());
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

}  // namespace outsize::detail
