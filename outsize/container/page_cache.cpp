// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/page_cache.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/page_row.hpp>

namespace outsize::detail {
namespace {

block::block_cache_options cache_options(page_cache_options const& options) {
  return {.block_bytes = options.page_bytes,
          .block_count = std::max(options.cache_pages, page_cache::least_pages),
          .spare_count = options.spare_pages,
          .write_bytes = options.write_bytes,
          .former_count = options.former_pages};
}

}  // namespace

std::size_t page_cache::memory_bytes(block::block_device& device,
                                     page_cache_options const& options) {
  return block::block_cache::memory_bytes(device, cache_options(options));
}

page_cache::page_cache(block::block_device& device, grant memory, page_cache_options const& options,
                       std::unique_ptr<block::replacement> policy)
    : page_bytes_(options.page_bytes),
      cache_pages_(cache_options(options).block_count),
      live_pages_(options.live_pages > 0
                      ? options.live_pages
                      : std::clamp<std::size_t>(cache_pages_ / 3, 2, most_live_pages)),
      // More would push each other out, beside the live ones, the current one and one that is read.
      read_ahead_pages_(std::min(options.read_ahead_pages, cache_pages_ - live_pages_ - 2)),
      // As many that have been used must be in the cache, so that under LRU these leave for others
      // before those that are expected.
      batch_pages_(std::clamp<std::size_t>(
          options.batch_pages, 1, std::max<std::size_t>((cache_pages_ - live_pages_) / 2, 2) - 1)),
      held_pages_(options.held_pages),
      memory_(std::move(memory)),
      blocks_(device, memory_, cache_options(options), std::move(policy)) {
  OUTSIZE_ASSERT(live_pages_ <= most_live_pages && live_pages_ < cache_pages_);
}

page_cache::live_page* page_cache::touch(page_row& row, std::uint64_t page) noexcept {
  auto const place = find(row, page);
  if (place == live_pages_) return nullptr;
  make_first(place);
  live_[0].is_lent = true;
  return &live_[0];
}

void page_cache::make_room() { end_life(live_[live_pages_ - 1]); }

page_cache::live_page& page_cache::add(page_row& row, std::uint64_t page, block::pinned_block block,
                                       bool is_changed) noexcept {
  auto& last = live_[live_pages_ - 1];
  OUTSIZE_ASSERT(!last.block);
  last = {&row, page, std::move(block), is_changed};
  make_first(live_pages_ - 1);
  return live_[0];
}

void page_cache::end_lives() {
  if (at_work_ != nullptr) std::exchange(at_work_, nullptr)->rest();
  for (live_page& page : live_) end_life(page);
}

void page_cache::renew(page_row const& row, std::uint64_t page, bool keeps_content) noexcept {
  auto const place = find(row, page);
  if (place < live_pages_ && std::exchange(live_[place].is_lent, false))
    blocks_.renew_memory(live_[place].block, keeps_content);
}

void page_cache::forget(page_row const& row, std::uint64_t page) noexcept {
  renew(row, page, false);
  if (auto const place = find(row, page); place < live_pages_) live_[place] = {};
}

void page_cache::forget(page_row const& row) noexcept {
  if (at_work_ == &row) at_work_ = nullptr;
  for (live_page& page : live_)
    if (page.row == &row) page = {};
}

std::size_t page_cache::find(page_row const& row, std::uint64_t page) const noexcept {
  std::size_t place = 0;
  while (place < live_pages_ && (live_[place].number != page || live_[place].row != &row)) ++place;
  return place;
}

void page_cache::make_first(std::size_t place) noexcept {
  std::rotate(live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(place),
              live_.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  page_row* const row = live_[0].row;
  if (at_work_ != row && at_work_ != nullptr) at_work_->rest();
  at_work_ = row;
}

void page_cache::end_life(live_page& page) {
  // Who holds a page by a pin may change it longer than it lives.
  if (page.block && shared_pins_ == 0) page.row->seal(page.number, page.block.bytes());
  page = {};
}

}  // namespace outsize::detail
