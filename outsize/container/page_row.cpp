// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/page_row.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

page_pin& page_pin::operator=(page_pin&& other) noexcept {
  if (this == &other) return *this;
  release();
  row_ = std::move(other.row_);
  block_ = std::move(other.block_);
  return *this;
}

void page_pin::release() noexcept {
  if (!row_) return;
  {
    std::lock_guard const lock(row_->mutex_);
    block_.release();
    --row_->shared_pins_;
  }
  row_.reset();
}

namespace {

block::block_cache_options cache_options(page_row_options const& options) {
  return {.block_bytes = options.page_bytes,
          .block_count = std::max(options.cache_pages, page_row::least_cache_pages),
          .spare_count = options.spare_pages};
}

}  // namespace

std::size_t page_row::memory_bytes(block::block_device& device, page_row_options const& options) {
  return block::block_cache::memory_bytes(device, cache_options(options)) +
         page_runs::memory_bytes(options.run_bytes, options.run_count);
}

page_row::page_row(std::unique_ptr<page_space> space, grant memory, page_row_options const& options,
                   std::unique_ptr<block::replacement> policy)
    : page_bytes_(options.page_bytes),
      cache_pages_(cache_options(options).block_count),
      live_pages_(options.live_pages > 0
                      ? options.live_pages
                      : std::clamp<std::size_t>(cache_pages_ / 4, 2, most_live_pages)),
      // More would push each other out, beside the live ones, the current one and one that is read.
      read_ahead_pages_(std::min(options.read_ahead_pages, cache_pages_ - live_pages_ - 2)),
      memory_(std::move(memory)),
      space_(std::move(space)),
      cache_(space_->device(), memory_, cache_options(options), std::move(policy)),
      runs_(memory_, page_bytes_, options.run_bytes, options.run_count) {
  OUTSIZE_ASSERT(live_pages_ <= most_live_pages && live_pages_ < cache_pages_);
  for (std::uint64_t page = begin(); page < end(); ++page)
    blank_.push_back(!space_->is_written(page));
}

void page_row::reach(std::uint64_t begin, std::uint64_t end) {
  OUTSIZE_ASSERT(begin <= end && begin <= this->end() && end >= this->begin());
  space_->check_writable();
  std::lock_guard const lock(mutex_);
  for (std::uint64_t page = this->begin(); page < begin; ++page) {
    forget(page);
    blank_.pop_front();
  }
  for (std::uint64_t page = this->end(); page > end; --page) {
    forget(page - 1);
    blank_.pop_back();
  }
  space_->shrink(begin, end);
  while (this->end() < end) {
    space_->append();
    blank_.push_back(true);
  }
  while (this->begin() > begin) {
    space_->prepend();
    blank_.push_front(true);
  }
}

void page_row::forget(std::uint64_t page) noexcept {
  if (auto const place = find_live(page); place < live_pages_) live_[place] = {};
  seals_.erase(page);
  runs_.forget(page);
  cache_.drop(space_->place(page));
}

std::span<std::byte> page_row::change(std::uint64_t page, content old) {
  std::lock_guard const lock(mutex_);
  space_->check_writable();
  live_page& live = touch(page, old);
  if (!live.is_changed) move_to_change(page, live.block);
  live.is_changed = true;
  return live.block.change();
}

std::span<std::byte const> page_row::show(std::uint64_t page) {
  std::lock_guard const lock(mutex_);
  OUTSIZE_ASSERT(!is_blank(page));
  return touch(page, content::kept).block.bytes();
}

/// Makes a page the first of the live ones.
page_row::live_page& page_row::touch(std::uint64_t page, content old) {
  if (auto const place = find_live(page); place < live_pages_) {
    make_first(place);
    return live_[0];
  }
  bool const forward = page > 0 && find_live(page - 1) < live_pages_;
  bool const backward = find_live(page + 1) < live_pages_;
  live_page& last = live_[live_pages_ - 1];
  end_life(last);  // first, so that it may leave the cache for the new one
  if (is_blank(page)) {
    last = {page, pin_blank(page, old), true};
  } else if (old == content::replaced && !cache_.holds(space_->place(page))) {
    last = {page, pin_to_replace(page), true};
  } else {
    last = {page, pin_old(page), false};
    OUTSIZE_ASSERT_HEAVY(is_as_sealed(last));
  }
  seals_.erase(page);
  blank_[page - begin()] = false;
  make_first(live_pages_ - 1);
  if (old == content::kept && forward != backward) read_ahead(page, backward);
  return live_[0];
}

/// Pins a page that something was written to, wherever it is.
block::pinned_block page_row::pin_old(std::uint64_t page) const {
  auto const id = space_->place(page);
  if (runs_.are_used() && !cache_.holds(id))
    if (auto const read = runs_.take(*space_, page); !read.empty())
      return cache_.pin_copy(id, read);
  return cache_.pin(id);
}

block::pinned_block page_row::pin_blank(std::uint64_t page, content old) {
  auto const id = space_->place_to_change(page);
  try {
    return old == content::kept ? cache_.pin_new(id) : cache_.pin_to_replace(id);
  } catch (...) {
    space_->vacate(page);
    throw;
  }
}

block::pinned_block page_row::pin_to_replace(std::uint64_t page) {
  runs_.forget(page);
  auto block = cache_.pin_to_replace(space_->place(page));
  try {
    move_to_change(page, block);
  } catch (...) {
    cache_.drop(block.id());  // so that what is there stays
    throw;
  }
  return block;
}

void page_row::move_to_change(std::uint64_t page, block::pinned_block const& block) {
  auto const to = space_->place_to_change(page);
  if (to != block.id()) cache_.move(block, to);
}

void page_row::vacate(std::uint64_t page) noexcept {
  std::lock_guard const lock(mutex_);
  forget(page);
  space_->vacate(page);
  blank_[page - begin()] = true;
}

void page_row::flush() {
  std::lock_guard const lock(mutex_);
  if (space_->keeps_what_was_settled()) {
    for (live_page& page : live_) end_life(page);
    cache_.flush();
  } else {
    cache_.flush();
    seals_.clear();  // behind the end of a file that is cut afterwards there will be something else
  }
}

void page_row::read(std::uint64_t page, std::size_t offset_bytes, std::span<std::byte> into) const {
  std::lock_guard const lock(mutex_);
  if (is_blank(page)) {
    std::memset(into.data(), 0, into.size());
    return;
  }
  auto const pinned = pin_old(page);
  std::memcpy(into.data(), pinned.bytes().data() + offset_bytes, into.size());
}

page_pin page_row::pin(std::uint64_t page, std::uint64_t before) const {
  std::lock_guard const lock(mutex_);
  // Pins must leave room for the live pages, and for one that is read.
  if (is_blank(page) || shared_pins_ + live_pages_ + 1 >= cache_pages_) return {};
  auto pinned = pin_old(page);
  ++shared_pins_;
  if (page == before + 1 || page + 1 == before) read_ahead(page, page + 1 == before);
  return {shared_from_this(), std::move(pinned)};
}

void page_row::prefetch(std::uint64_t page) const {
  std::lock_guard const lock(mutex_);
  if (!is_blank(page) && !runs_.has(page)) cache_.prefetch(space_->place(page));
}

void page_row::expect(std::span<std::uint64_t const> pages) const {
  std::lock_guard const lock(mutex_);
  auto const is_wanted = [this](std::uint64_t page) {
    return !is_blank(page) && !cache_.holds(space_->place(page));
  };
  if (runs_.are_used()) return runs_.expect(*space_, pages, is_wanted);
  for (std::uint64_t const page : pages)
    if (!is_blank(page)) cache_.prefetch(space_->place(page));
}

std::vector<io::request_ptr> page_row::write_past_cache(std::uint64_t first,
                                                        std::span<std::byte const> bytes) {
  std::lock_guard const lock(mutex_);
  std::uint64_t const last = first + bytes.size() / page_bytes_;
  std::vector<block::block_id> places;  // of pages side by side
  for (std::uint64_t page = first; page < last; ++page) {
    OUTSIZE_ASSERT(is_blank(page));
    auto const place = space_->place_to_change(page);
    bool const follows =
        !places.empty() && places.back().disk == place.disk &&
        places.back().offset_bytes + places.back().length_bytes == place.offset_bytes;
    if (follows)
      places.back().length_bytes += place.length_bytes;
    else
      places.push_back(place);
  }
  std::vector<io::request_ptr> writes;
  for (auto const& place : places) {
    writes.push_back(space_->device().write(place, bytes.first(place.length_bytes)));
    bytes = bytes.subspan(place.length_bytes);
  }
  for (std::uint64_t page = first; page < last; ++page) blank_[page - begin()] = false;
  return writes;
}

block::block_cache_counts page_row::counts() const {
  std::lock_guard const lock(mutex_);
  return cache_.counts();
}

std::size_t page_row::find_live(std::uint64_t page) const noexcept {
  std::size_t place = 0;
  while (place < live_pages_ && live_[place].number != page) ++place;
  return place;
}

void page_row::make_first(std::size_t place) noexcept {
  std::rotate(live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(place),
              live_.begin() + static_cast<std::ptrdiff_t>(place) + 1);
}

void page_row::end_life(live_page& page) noexcept {
  if (page.block) seal(page);
  page = {};
}

/// Notes what is in a page that nobody may refer into any more.
void page_row::seal(live_page const& page) {
  if constexpr (heavy_assertions) seals_[page.number] = storage::checksum_of(page.block.bytes());
}

/// Whether nobody has changed the page through a reference that was no longer valid.
bool page_row::is_as_sealed(live_page const& page) const {
  auto const seal = seals_.find(page.number);
  return seal == seals_.end() || seal->second == storage::checksum_of(page.block.bytes());
}

void page_row::read_ahead(std::uint64_t page, bool backward) const {
  for (std::uint64_t i = 1; i <= read_ahead_pages_; ++i) {
    std::uint64_t const next = backward ? page - i : page + i;
    if (next < space_->begin() || next >= space_->end()) return;
    if (!is_blank(next)) cache_.prefetch(space_->place(next));
  }
}

}  // namespace outsize::detail
