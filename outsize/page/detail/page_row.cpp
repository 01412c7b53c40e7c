// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/page_row.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/storage.hpp>

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
    std::lock_guard const lock(row_->cache_->mutex());
    block_.release();
    row_->cache_->discount_shared_pin();
  }
  row_.reset();
}

run_pin& run_pin::operator=(run_pin&& other) noexcept {
  if (this == &other) return *this;
  release();
  row_ = std::move(other.row_);
  held_ = std::exchange(other.held_, {});
  return *this;
}

void run_pin::release() noexcept {
  if (!row_) return;
  {
    std::lock_guard const lock(row_->cache_->mutex());
    row_->runs_.release(std::exchange(held_, {}));
  }
  row_.reset();
}

page_renewal::page_renewal(page_row& row) : row_(row) {
  std::lock_guard const lock(row_.cache_->mutex());
  row_.space_->check_writable();
  row_.cache_->end_lives();
  row_.swap_aside(old_blank_);
}

page_renewal::~page_renewal() {
  if (is_kept_) return;
  give_up();
  std::lock_guard const lock(row_.cache_->mutex());
  row_.swap_aside(old_blank_);
}

void page_renewal::keep() noexcept {
  {
    std::lock_guard const lock(row_.cache_->mutex());
    row_.cache_->end_lives();
    row_.swap_aside(old_blank_);
  }
  give_up();
  std::lock_guard const lock(row_.cache_->mutex());
  row_.swap_aside(old_blank_);
  is_kept_ = true;
}

/// The pages that the row has now.
void page_renewal::give_up() noexcept { row_.reach(0, 0); }

page_row::page_row(storage& store, std::unique_ptr<page_space> space,
                   std::shared_ptr<page_cache> cache, std::size_t page_bytes)
    : page_row(store, std::move(space), std::move(cache), page_bytes, {}, {}) {}

page_row::page_row(storage& store, std::unique_ptr<page_space> space,
                   std::shared_ptr<page_cache> cache, std::size_t page_bytes, grant memory,
                   page_run_options const& runs)
    : store_(store),
      page_bytes_(page_bytes),
      space_(std::move(space)),
      cache_(std::move(cache)),
      memory_(std::move(memory)),
      runs_(memory_, page_bytes, runs),
      runs_need_memory_(!runs.is_named && runs_.are_used()) {
  OUTSIZE_ASSERT(page_bytes_ <= cache_->page_bytes());
  if (runs_need_memory_) cache_->add_runs(runs_);
  for (std::uint64_t page = begin(); page < end(); ++page)
    blank_.push_back(!space_->is_written(page));
}

page_row::~page_row() {
  std::lock_guard const lock(cache_->mutex());
  cache_->forget(*this);
  if (runs_need_memory_) cache_->remove_runs();
  cache_->note_fewer_pages();
}

/// Whether pages can be read by runs now.
bool page_row::has_runs() const {
  return runs_.are_used() && (!runs_need_memory_ || cache_->give_runs_memory());
}

void page_row::reach(std::uint64_t begin, std::uint64_t end) {
  OUTSIZE_ASSERT(begin <= end && begin <= this->end() && end >= this->begin());
  space_->check_writable();
  std::lock_guard const lock(cache_->mutex());
  for (std::uint64_t page = this->begin(); page < begin; ++page) {
    forget(page);
    blank_.pop_front();
  }
  for (std::uint64_t page = this->end(); page > end; --page) {
    forget(page - 1);
    blank_.pop_back();
  }
  space_->shrink(begin, end);
  cache_->note_fewer_pages();
  memory_holder::safe_point const here(cache_->mutex());
  if ((end - begin) - (this->end() - this->begin()) > 1) space_->require_room(begin, end);
  std::uint64_t const old_begin = this->begin(), old_end = this->end();
  std::uint64_t flags_in_front = 0;  // that were added: the last page may be without, if it throws
  try {
    while (this->end() < end) {
      space_->append();
      blank_.push_back(true);
    }
    while (this->begin() > begin) {
      space_->prepend();
      blank_.push_front(true);
      ++flags_in_front;
    }
  } catch (...) {  // others may have a use for the space
    for (; flags_in_front > 0; --flags_in_front) blank_.pop_front();
    blank_.resize(old_end - old_begin);
    space_->shrink(old_begin, old_end);
    throw;
  }
}

void page_row::require_room(std::uint64_t begin, std::uint64_t end) {
  std::lock_guard const lock(cache_->mutex());
  memory_holder::safe_point const here(cache_->mutex());
  space_->require_room(begin, end);
}

void page_row::take_places(std::uint64_t begin, std::uint64_t end) {
  std::lock_guard const lock(cache_->mutex());
  memory_holder::safe_point const here(cache_->mutex());
  space_->take_places(begin, end);
}

/// What an index of pages needs may be had of pages in the cache.
block::block_id page_row::place_to_change(std::uint64_t page) {
  memory_holder::safe_point const here(cache_->mutex());
  return space_->place_to_change(page);
}

void page_row::forget(std::uint64_t page) noexcept {
  cache_->forget(*this, page);
  seals_.erase(page);
  runs_.forget(page);
  cache_->blocks().drop(space_->place(page));
}

/// What is known of pages by their numbers holds no longer.
void page_row::swap_aside(std::deque<bool>& blank) {
  space_->swap_aside();
  blank_.swap(blank);
  runs_.forget_all();
  seals_.clear();
  touched_ = touched_before_ = no_page;
}

std::span<std::byte> page_row::change(std::uint64_t page, content old) {
  std::lock_guard const lock(cache_->mutex());
  space_->check_writable();
  auto& live = touch(page, old);
  if (!live.is_changed) move_to_change(page, live.block);
  live.is_changed = true;
  return live.block.change();
}

std::span<std::byte const> page_row::show(std::uint64_t page) {
  std::lock_guard const lock(cache_->mutex());
  OUTSIZE_ASSERT(!is_blank(page));
  return touch(page, content::kept).block.bytes();
}

std::span<std::byte> page_row::renew(std::uint64_t page) {
  std::lock_guard const lock(cache_->mutex());
  auto* const live = cache_->touch(*this, page);
  OUTSIZE_ASSERT(live != nullptr);
  note_touch(page);
  cache_->blocks().renew_memory(live->block, false);
  return live->block.change();
}

/// Makes a page the first of the live ones.
page_cache::live_page& page_row::touch(std::uint64_t page, content old) {
  if (auto* const live = cache_->touch(*this, page)) {
    note_touch(page);
    return *live;
  }
  bool const forward = page > 0 && is_near(page - 1);
  bool const backward = is_near(page + 1);
  cache_->make_room();  // first, so that what was live may leave the cache for the new one
  block::pinned_block pinned;
  bool const is_old =
      !is_blank(page) && (old == content::kept || cache_->blocks().holds(space_->place(page)));
  if (is_old) {
    pinned = pin_old(page);
  } else {
    pinned = is_blank(page) ? pin_blank(page, old) : pin_to_replace(page);
  }
  seals_.erase(page);
  blank_[page - begin()] = false;
  bool const returns = page == touched_before_;  // as a stack does at the edge of a page
  note_touch(page);
  auto& live = cache_->add(*this, page, std::move(pinned), !is_old);
  if (old == content::kept && forward != backward && !returns) read_ahead(page, backward);
  return live;
}

/// Pins a page that something was written to, wherever it is.
block::pinned_block page_row::pin_old(std::uint64_t page) const {
  auto& blocks = cache_->blocks();
  auto const id = space_->place(page);
  if (runs_.are_used() && !blocks.holds(id))
    if (auto const read = runs_.take(*space_, page); !read.empty())
      return blocks.pin_copy(id, read);
  if (!blocks.holds(id)) note_miss(page);
  auto pinned = blocks.pin(id);
  OUTSIZE_ASSERT_HEAVY(page == checked_ || is_as_sealed(page, pinned.bytes()));
  if constexpr (heavy_assertions) checked_ = page;
  return pinned;
}

/// A page that is not in the cache, and no prefetch was begun for, is about to be read.
void page_row::note_miss(std::uint64_t page) const {
  std::uint64_t const before = std::exchange(missed_, page);
  cache_->note_miss(page == before + 1 || page + 1 == before);
}

block::pinned_block page_row::pin_blank(std::uint64_t page, content old) {
  auto& blocks = cache_->blocks();
  auto const id = place_to_change(page);
  try {
    return old == content::kept ? blocks.pin_new(id) : blocks.pin_to_replace(id);
  } catch (...) {
    space_->vacate(page);
    throw;
  }
}

block::pinned_block page_row::pin_to_replace(std::uint64_t page) {
  runs_.forget(page);
  auto block = cache_->blocks().pin_to_replace(space_->place(page));
  try {
    move_to_change(page, block);
  } catch (...) {
    cache_->blocks().drop(block.id());  // so that what is there stays
    throw;
  }
  return block;
}

void page_row::move_to_change(std::uint64_t page, block::pinned_block const& block) {
  auto const to = place_to_change(page);
  if (to != block.id()) cache_->blocks().move(block, to);
}

std::vector<io::request_ptr> page_row::write_past_cache(std::uint64_t first,
                                                        std::span<std::byte const> bytes) {
  std::lock_guard const lock(cache_->mutex());
  std::uint64_t const last = first + bytes.size() / page_bytes_;
  struct stretch {  // of pages side by side
    block::block_id first;
    std::uint64_t length_bytes;
  };
  std::vector<stretch> stretches;
  for (std::uint64_t page = first; page < last; ++page) {
    OUTSIZE_ASSERT(is_blank(page));
    auto const place = place_to_change(page);
    bool const follows =
        !stretches.empty() && stretches.back().first.disk == place.disk &&
        stretches.back().first.offset_bytes + stretches.back().length_bytes == place.offset_bytes;
    if (follows)
      stretches.back().length_bytes += place.length_bytes;
    else
      stretches.push_back({place, place.length_bytes});
  }
  std::vector<io::request_ptr> writes;
  writes.reserve(stretches.size());
  try {
    for (auto const& each : stretches) {
      writes.push_back(space_->device().write(each.first, bytes.first(each.length_bytes)));
      bytes = bytes.subspan(each.length_bytes);
    }
  } catch (...) {
    for (auto const& write : writes) write->wait_outcome();  // the bytes may go
    throw;
  }
  for (std::uint64_t page = first; page < last; ++page) blank_[page - begin()] = false;
  return writes;
}

void page_row::vacate(std::uint64_t page) noexcept {
  std::lock_guard const lock(cache_->mutex());
  forget(page);
  space_->vacate(page);
  blank_[page - begin()] = true;
}

void page_row::flush() {
  std::lock_guard const lock(cache_->mutex());
  if (space_->keeps_what_was_settled()) {
    cache_->end_lives();
    cache_->blocks().flush();
  } else {
    cache_->blocks().flush();
    // Behind the end of a file that is cut afterwards there will be something else.
    if (space_->is_lasting()) seals_.clear();
  }
}

/// The same as pin_old(), which lets others go on while the page is read. Whoever is alone has it
/// read by the pin itself, which is quicker.
block::pinned_block page_row::pin_in_company(std::uint64_t page, page_cache::visit const& here,
                                             std::unique_lock<memory_holder>& lock) const {
  auto& blocks = cache_->blocks();
  auto const id = space_->place(page);
  if (!here.is_alone() && !runs_.has(page)) {
    if (!blocks.holds(id)) blocks.prefetch(id);
    if (auto const reading = blocks.reading(id)) {
      lock.unlock();
      reading->wait_outcome();  // the pin will tell of an error
      lock.lock();
    }
  }
  return pin_old(page);
}

void page_row::read(std::uint64_t page, std::size_t offset_bytes, std::span<std::byte> into) const {
  page_cache::visit const here(*cache_);
  std::unique_lock lock(cache_->mutex());
  if (is_blank(page)) {
    std::memset(into.data(), 0, into.size());
    return;
  }
  auto const pinned = pin_in_company(page, here, lock);
  std::memcpy(into.data(), pinned.bytes().data() + offset_bytes, into.size());
}

page_pin page_row::pin(std::uint64_t page, std::uint64_t before) const {
  page_cache::visit const here(*cache_);
  std::unique_lock lock(cache_->mutex());
  if (is_blank(page) || !cache_->can_share()) return {};
  auto pinned = pin_in_company(page, here, lock);
  if (!cache_->can_share()) return {};  // others came meanwhile
  if (page == before + 1 || page + 1 == before) read_ahead(page, page + 1 == before);
  return shared(std::move(pinned));
}

page_pin page_row::shared(block::pinned_block block) const {
  cache_->count_shared_pin();
  return {shared_from_this(), std::move(block)};
}

void page_row::end_lives() const {
  std::lock_guard const lock(cache_->mutex());
  cache_->end_lives();
}

std::size_t page_row::free_pages() const {
  std::lock_guard const lock(cache_->mutex());
  cache_->take_share();
  return cache_->cache_pages() - cache_->blocks().pinned_count();
}

bool page_row::holds_zeros(std::uint64_t page) const {
  std::lock_guard const lock(cache_->mutex());
  return is_blank(page);
}

void page_row::expect(std::uint64_t page) const {
  std::lock_guard const lock(cache_->mutex());
  if (!is_blank(page) && !runs_.has(page)) cache_->blocks().prefetch(space_->place(page));
}

bool page_row::must_be_read(std::uint64_t page) const {
  return !is_blank(page) && !cache_->blocks().holds(space_->place(page)) && !runs_.has(page);
}

std::size_t page_row::expect(std::span<std::uint64_t const> pages, ahead most) const {
  std::lock_guard const lock(cache_->mutex());
  auto const is_wanted = [this](std::uint64_t page) { return must_be_read(page); };
  for (std::size_t i = 0; i < pages.size();) {
    if (!is_wanted(pages[i])) {
      ++i;
      continue;
    }
    std::size_t const count =
        runs_.are_used() ? runs_.stretch(*space_, pages.subspan(i), is_wanted) : 1;
    if (count >= least_run_pages && has_runs()) {
      if (most.runs == 0) return i;
      --most.runs;
      if (!runs_.begin(*space_, std::min(pages[i], pages[i + count - 1]),
                       std::vector<bool>(count, true)))
        return i;
    } else {
      if (most.pages < count) return i;
      most.pages -= count;
      note_miss(pages[i]);
      for (std::uint64_t const page : pages.subspan(i, count))
        cache_->blocks().try_prefetch(space_->place(page));
    }
    i += count;
  }
  return pages.size();
}

/// Whether the page has something in it that a request can read.
bool page_row::is_there(std::uint64_t page) const {
  return page >= begin() && page < end() && !is_blank(page);
}

/// Those of the pages that are to be read by one request. @pre the first must be read.
page_runs::stretch_of_some page_row::near_the_first(std::span<std::uint64_t const> pages) const {
  if (!runs_.are_used()) return {};
  return runs_.stretch_with_gaps(
      *space_, pages, [this](std::uint64_t page) { return is_there(page) && must_be_read(page); },
      [this](std::uint64_t page) { return is_there(page); });
}

std::size_t page_row::expect_first(std::span<std::uint64_t const> pages, ahead most) const {
  std::lock_guard const lock(cache_->mutex());
  auto& blocks = cache_->blocks();
  if (is_there(pages[0]) && must_be_read(pages[0])) {
    auto const few = pages.first(std::min(pages.size(), 2 * least_run_pages));
    // These tell whether it is worthwhile.
    if (near_the_first(few).wanted >= least_run_pages && has_runs()) {
      if (most.runs == 0) return 0;
      std::size_t const count = near_the_first(pages).count;
      std::vector<bool> marked(pages[count - 1] - pages[0] + 1);
      for (std::uint64_t const page : pages.first(count)) {
        if (!is_there(page)) continue;
        if (blocks.holds(space_->place(page))) {
          blocks.prefetch(space_->place(page));
        } else {
          marked[page - pages[0]] = !runs_.has(page);
        }
      }
      if (runs_.begin(*space_, pages[0], std::move(marked))) return count;
    }
  }
  if (most.pages == 0) return 0;
  if (is_there(pages[0]) && !runs_.has(pages[0])) blocks.prefetch(space_->place(pages[0]));
  return 1;
}

run_pin page_row::pin_run(std::uint64_t page) const {
  std::lock_guard const lock(cache_->mutex());
  auto const held = runs_.hold_pages(*space_, page);
  if (held.bytes.empty()) return {};
  return {shared_from_this(), held};
}

page_pin page_row::hold(std::uint64_t page) const {
  std::lock_guard const lock(cache_->mutex());
  if (is_blank(page)) return {};
  return shared(pin_old(page));
}

page_pin page_row::hold_to_change(std::uint64_t page, content old) {
  std::lock_guard const lock(cache_->mutex());
  return hold_now(page, old);
}

page_pin page_row::hold_to_renew(std::uint64_t page, content old) {
  std::lock_guard const lock(cache_->mutex());
  auto held = hold_now(page, old);
  cache_->renew(*this, page, old == content::kept);
  return held;
}

page_pin page_row::hold_now(std::uint64_t page, content old) {
  space_->check_writable();
  bool const replaces = old == content::replaced && !cache_->blocks().holds(space_->place(page));
  auto pinned = is_blank(page) ? pin_blank(page, old)
                : replaces     ? pin_to_replace(page)
                               : pin_old(page);
  move_to_change(page, pinned);
  seals_.erase(page);
  blank_[page - begin()] = false;
  return shared(std::move(pinned));
}

block::block_cache_counts page_row::counts() const {
  std::lock_guard const lock(cache_->mutex());
  return cache_->blocks().counts();
}

void page_row::note_touch(std::uint64_t page) noexcept {
  if (page == touched_) return;
  touched_before_ = touched_;
  touched_ = page;
}

/// Whether the page was touched so lately that one beside it continues a scan. Of rows that take
/// turns none may be live when its turn comes again.
bool page_row::is_near(std::uint64_t page) const noexcept {
  return page == touched_ || page == touched_before_ || cache_->is_live(*this, page);
}

void page_row::rest() noexcept {
  if (at_rest_) at_rest_();
}

/// Notes what is in a page that nobody may refer into any more.
void page_row::seal(std::uint64_t page, std::span<std::byte const> bytes) {
  if constexpr (heavy_assertions) {
    seals_[page] = block::checksum_of(bytes);
    checked_ = no_page;
  }
}

/// Whether nobody has changed the page through a reference that was no longer valid.
bool page_row::is_as_sealed(std::uint64_t page, std::span<std::byte const> bytes) const {
  auto const seal = seals_.find(page);
  return seal == seals_.end() || seal->second == block::checksum_of(bytes);
}

void page_row::read_ahead(std::uint64_t page, bool backward) const {
  for (std::uint64_t i = 1; i <= cache_->read_ahead_pages(); ++i) {
    std::uint64_t const next = backward ? page - i : page + i;
    if (next < space_->begin() || next >= space_->end()) return;
    if (!is_blank(next) && !runs_.has(next)) cache_->blocks().try_prefetch(space_->place(next));
  }
}

}  // namespace outsize::detail
