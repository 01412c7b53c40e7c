// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/page_cache.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_runs.hpp>

namespace outsize::detail {
namespace {

// So many misses away from the page before, and pages are used at random.
constexpr unsigned many_misses = 16;

std::size_t pages_of(page_cache_options const& options) noexcept {
  return std::max(options.cache_pages, page_cache::fewest_pages);
}

std::size_t live_of(page_cache_options const& options) noexcept {
  if (options.live_pages > 0) return options.live_pages;
  return std::clamp<std::size_t>(pages_of(options) / 3, 2, page_cache::most_live_pages);
}

/// Of a cache whose memory comes and goes: for pages that are kept, and one that leaves. 0 of
/// others.
std::size_t least_buffers_of(page_cache_options const& options) noexcept {
  if (options.is_named) return 0;
  std::size_t const pages =
      options.least_pages > 0 ? options.least_pages : live_of(options) + options.held_pages + 2;
  return std::min(pages + 1, pages_of(options) + options.spare_pages);
}

block::block_cache_options cache_options(page_cache_options const& options) {
  return {.block_bytes = options.page_bytes,
          .block_count = pages_of(options),
          .spare_count = options.spare_pages,
          .write_bytes = options.write_bytes,
          .former_count = options.former_pages,
          .least_count = least_buffers_of(options),
          .usual_count = options.usual_pages};
}

}  // namespace

std::size_t page_cache::memory_bytes(block::block_device& device,
                                     page_cache_options const& options) {
  return block::block_cache::memory_bytes(device, cache_options(options));
}

std::shared_ptr<page_cache> page_cache::make(memory_budget& budget, std::string asker,
                                             block::block_device& device,
                                             page_cache_options const& options,
                                             std::unique_ptr<block::replacement> policy) {
  grant memory = budget.take(options.is_named ? memory_bytes(device, options) : 0, asker);
  auto made = std::make_shared<page_cache>(device, std::move(memory), options, std::move(policy));
  if (!options.is_named) budget.require(made->least_bytes_, asker);
  return made;
}

page_cache::page_cache(block::block_device& device, grant memory, page_cache_options const& options,
                       std::unique_ptr<block::replacement> policy)
    : page_bytes_(options.page_bytes),
      live_pages_(live_of(options)),
      read_ahead_pages_(options.read_ahead_pages),
      batch_pages_(options.batch_pages),
      held_pages_(options.held_pages),
      least_buffers_(least_buffers_of(options)),
      memory_(std::move(memory)),
      blocks_(device, memory_, cache_options(options), std::move(policy)),
      least_bytes_(blocks_.growth_bytes()),
      most_bytes_(memory_bytes(device, options)),
      usual_buffers_(options.usual_pages),
      giver_(*this),
      holder_(memory_, giver_, memory_claim::fixed(options.is_named ? most_bytes_ : 0)) {
  OUTSIZE_ASSERT(live_pages_ <= most_live_pages && live_pages_ < cache_pages());
  std::size_t const all = pages_of(options) + options.spare_pages;
  if (usual_buffers_ > 0 && usual_buffers_ < all)
    beyond_usual_bytes_ = most_bytes_ / all * (all - usual_buffers_);
  if (!options.is_named) blocks_.call_when_full([this](bool must) { take_memory(must); });
}

page_cache::~page_cache() = default;

// ---- memory that comes and goes ----

void page_cache::take_memory(bool must) {
  holder_.note_moved(page_bytes_);
  bool const has_enough =
      !must && !is_at_random_ && usual_buffers_ > 0 && blocks_.buffer_count() >= usual_buffers_;
  if (std::size_t const bytes = has_enough ? 0 : blocks_.growth_bytes(); bytes > 0) {
    if (must || blocks_.buffer_count() == 0) {
      memory_.extend(bytes);
      blocks_.grow();
    } else if (holder_.grow(bytes)) {
      blocks_.grow();
    }
  }
  if (!std::exchange(needs_memory_, true)) claim_from(least_bytes_);
}

void page_cache::take_share() {
  if (is_named()) return;
  if (!needs_memory_) take_memory(false);
  auto const wanted = [this] {
    bool const is_enough = usual_buffers_ > 0 && blocks_.buffer_count() >= usual_buffers_;
    return is_enough && !is_at_random_ ? 0 : blocks_.growth_bytes();
  };
  for (std::size_t bytes = wanted(); bytes > 0 && holder_.grow(bytes); bytes = wanted())
    blocks_.grow();
}

void page_cache::add_runs(page_runs& runs) {
  runs_ = &runs;
  most_bytes_ += runs.memory_bytes();
  if (is_named()) claim_from(memory_.total_bytes());
}

void page_cache::remove_runs() noexcept {
  runs_->forget_all();
  runs_->give_memory(give_cost::reread);
  most_bytes_ -= runs_->memory_bytes();
  runs_ = nullptr;
  memory_.shrink(UINT64_MAX);
}

bool page_cache::give_runs_memory() {
  if (runs_->has_memory()) return true;
  if (!(needs_memory_ || is_named()) || !holder_.grow(runs_->memory_bytes())) return false;
  runs_->take_memory(memory_);
  return true;
}

void page_cache::note_fewer_pages() {
  if (blocks_.held_count() == 0 && std::exchange(needs_memory_, false)) claim_from(0);
}

void page_cache::note_miss(bool follows) {
  if (beyond_usual_bytes_ == 0) return;
  random_misses_ = follows ? random_misses_ / 2 : std::min(random_misses_ + 1, many_misses);
  bool const is_at_random = is_at_random_ ? random_misses_ > 0 : random_misses_ == many_misses;
  if (is_at_random == std::exchange(is_at_random_, is_at_random)) return;
  if (needs_memory_) claim_from(least_bytes_);
}

/// More would not be used.
std::uint64_t page_cache::most_now() const noexcept {
  return most_bytes_ - (is_at_random_ ? 0 : beyond_usual_bytes_);
}

void page_cache::claim_from(std::uint64_t least) {
  std::uint64_t const most = std::max(least, most_now());
  holder_.claim({least, is_named() ? most : std::max(least, most / 2), most});
}

void page_cache::giver::give_back(std::uint64_t bytes, give_cost most) {
  struct at_end {  // also of what came before a write failed
    grant& memory;
    ~at_end() { memory.shrink(UINT64_MAX); }
  } const shrinking{cache_.memory_};
  if (cache_.runs_ != nullptr) cache_.runs_->give_memory(most);
  std::uint64_t const given = cache_.memory_.free_bytes();
  if (given < bytes && !cache_.is_named()) cache_.blocks_.shrink(bytes - given, most);
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
