// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Memory of a block_cache that comes and goes.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/closed_memory.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_cache.hpp>

namespace outsize::block {

/// The piece of memory in which a slot's buffer lies; one behind the last if it was a former one.
std::size_t block_cache::piece_of(std::size_t s) const noexcept {
  auto const offset = static_cast<std::size_t>(slots_[s].memory.data() - memory_.data());
  return offset >= former_offset_ ? has_memory_.size() : offset / (piece_buffers_ * buffer_bytes_);
}

/// In buffers; the last one may be shorter.
std::size_t block_cache::piece_length(std::size_t piece) const noexcept {
  return std::min(piece_buffers_, most_buffers_ - piece * piece_buffers_);
}

/// Of buffers: at first as much as it needs, then more and more at once.
std::size_t block_cache::next_pieces_bytes() const noexcept {
  std::size_t const piece_bytes = piece_buffers_ * buffer_bytes_;
  std::size_t const has = buffers_ * buffer_bytes_;
  std::size_t const all = most_buffers_ * buffer_bytes_;
  std::size_t const wanted = least_count_ == 0 ? all
                             : buffers_ == 0   ? least_count_ * buffer_bytes_
                                               : std::min<std::size_t>(has / 2, 2_MiB);
  return std::min(round_up(std::max(wanted, piece_bytes), piece_bytes), all - has);
}

/// Whether it writes groups once so many more bytes of buffers have memory.
bool block_cache::has_groups_with(std::size_t more_bytes) const noexcept {
  return group_bytes_ > 0 && 2 * (buffers_ + more_bytes / buffer_bytes_) >= most_buffers_;
}

std::size_t block_cache::growth_bytes() const noexcept {
  if (buffers_ == most_buffers_) return 0;
  std::size_t const pieces = next_pieces_bytes();
  std::size_t const of_former = former_.empty() ? former_count_ * buffer_bytes_ : 0;
  bool const adds_groups = groups_.empty() && has_groups_with(pieces);
  return round_up(pieces, page_bytes()) + round_up(of_former, page_bytes()) +
         (adds_groups ? round_up(group_count * group_bytes_, page_bytes()) : 0);
}

void block_cache::restore(std::size_t offset, std::size_t bytes) {
  if (least_count_ > 0 && bytes > 0) memory_.restore_pages(offset, round_up(bytes, page_bytes()));
}

void block_cache::grow() {
  std::size_t bytes = next_pieces_bytes();
  if (groups_.empty() && has_groups_with(bytes)) {
    restore(groups_offset_, group_count * group_bytes_);
    while (groups_.size() < group_count)
      groups_.push_back(
          {memory_.bytes().subspan(groups_offset_ + groups_.size() * group_bytes_, group_bytes_)});
  }
  if (former_.size() < former_count_) {
    restore(former_offset_, former_count_ * buffer_bytes_);
    while (former_.size() < former_count_) {
      former_.push_back({memory_.bytes().subspan(former_offset_ + former_.size() * buffer_bytes_,
                                                 buffer_bytes_)});
      detail::close_memory(former_.back().memory);
    }
  }
  for (std::size_t piece = 0; bytes > 0; ++piece) {
    // Side by side, so that the system can give long pages.
    std::size_t const first = piece;
    std::size_t found = 0;
    for (; found < bytes && piece < has_memory_.size() && !has_memory_[piece]; ++piece)
      found += piece_length(piece) * buffer_bytes_;
    if (found == 0) continue;
    restore(first * piece_buffers_ * buffer_bytes_, found);
    for (std::size_t p = first; p < piece; ++p) add_piece(p);
    bytes -= std::min(bytes, found);
  }
  slot_of_.reserve(buffers_);
  set_capacity();
}

/// One that had memory before, or a further one.
std::size_t block_cache::slot_without_memory() noexcept {
  if (without_memory_.empty()) {
    slots_.emplace_back();
    return slots_.size() - 1;
  }
  std::size_t const s = without_memory_.back();
  without_memory_.pop_back();
  return s;
}

/// Whose memory can be used.
void block_cache::add_piece(std::size_t piece) noexcept {
  std::size_t const offset = piece * piece_buffers_ * buffer_bytes_;
  std::size_t const count = piece_length(piece);
  has_memory_[piece] = true;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const s = slot_without_memory();
    slots_[s].memory = memory_.bytes().subspan(offset + i * buffer_bytes_, buffer_bytes_);
    slots_[s].is = state::fresh;
    detail::close_memory(slots_[s].memory);
    free_.push_back(s);
  }
  buffers_ += count;
}

/// Gives its memory back, if all of its buffers are free. Returns the bytes.
std::size_t block_cache::remove_piece(std::size_t piece) noexcept {
  auto const is_in_it = [&](std::size_t s) { return piece_of(s) == piece; };
  std::size_t const count = piece_length(piece);
  if (static_cast<std::size_t>(std::ranges::count_if(free_, is_in_it)) != count) return 0;
  for (std::size_t const s : free_) {
    if (!is_in_it(s)) continue;
    slots_[s].memory = {};
    without_memory_.push_back(s);
  }
  auto const gone = std::ranges::remove_if(free_, [&](auto s) { return slots_[s].memory.empty(); });
  free_.erase(gone.begin(), gone.end());
  std::size_t const bytes = round_up(count * buffer_bytes_, page_bytes());
  memory_.release_pages(piece * piece_buffers_ * buffer_bytes_, bytes);
  has_memory_[piece] = false;
  buffers_ -= count;
  return bytes;
}

/// The last ones first, so that those with memory lie side by side.
std::size_t block_cache::remove_free_pieces(std::size_t bytes) noexcept {
  std::vector<std::size_t> free_in(has_memory_.size() + 1);
  for (std::size_t const s : free_) ++free_in[piece_of(s)];
  std::size_t given = 0;
  for (std::size_t piece = has_memory_.size(); piece-- > 0 && given < bytes && can_shrink();)
    if (has_memory_[piece] && free_in[piece] == piece_length(piece)) given += remove_piece(piece);
  return given;
}

/// All memory. @pre no block is here.
void block_cache::remove_all() noexcept {
  OUTSIZE_ASSERT(slot_of_.empty() && free_.size() == buffers_);
  for (slot& x : slots_) x.memory = {};
  former_.clear();
  next_former_ = 0;
  has_memory_.assign(has_memory_.size(), false);
  without_memory_.insert(without_memory_.end(), free_.begin(), free_.end());
  free_.clear();
  buffers_ = 0;
  remove_groups();
  detail::open_memory(memory_.bytes());
  memory_.release_all_pages();
  set_capacity();
}

bool block_cache::can_shrink() const noexcept { return buffers_ >= least_count_ + piece_buffers_; }

/// Sees that a block which may leave is not here any more. Returns false if that costs too much.
bool block_cache::let_go(std::size_t s, give_cost most) {
  slot const& x = slots_[s];
  settle_if_ended(s);
  if (x.is == state::clean || x.is == state::reading) {
    forget(s);
    return true;
  }
  if (most != give_cost::written) return false;
  evict(s);
  return true;
}

/// Lets blocks go until the memory of so many buffers may be removed. Returns false if the next one
/// costs too much, or there is none.
bool block_cache::let_some_go(std::size_t count, give_cost most) {
  bool is_done = kept_ > pinned_;
  for (; count > 0 && kept_ > pinned_ && is_done; --count)
    is_done = let_go(policy_->choose(), most);
  if (most == give_cost::written) write_all_leaving();
  return is_done;
}

/// Together, so that writes go on side by side, and those of neighbours by one request. If one
/// fails this is told here, and not again: what could not be written is kept, to be written later.
void block_cache::write_all_leaving() {
  try {
    while (!leaving_.empty()) write_first_leaving();
  } catch (...) {
    for (std::size_t const s : leaving_) {
      slot& x = slots_[s];
      if (!x.transfer || x.transfer->wait_outcome().ok()) continue;
      x.transfer = nullptr;
      close_unpinned(x);
    }
    throw;
  }
}

/// All of them, whichever was used last: of short ones, some of those that share a page are pinned
/// or used as a rule.
void block_cache::let_all_go(give_cost most) {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    slot const& x = slots_[s];
    if (x.holds_block() && x.is != state::leaving && x.pins == 0) let_go(s, most);
  }
  if (most == give_cost::written) write_all_leaving();
}

void block_cache::shrink(std::size_t bytes, give_cost most) {
  OUTSIZE_ASSERT(least_count_ > 0);
  free_written();
  if (slot_of_.empty() && free_.size() == buffers_) {
    remove_all();
    return;
  }
  std::size_t given = 0;
  auto const is_enough = [&] { return given >= bytes || !can_shrink(); };
  auto const remove = [&] {
    given += remove_free_pieces(bytes - std::min(bytes, given));
    given += remove_groups();
    set_capacity();
  };
  remove();
  if (most == give_cost::unused) return;
  while (!is_enough()) {
    bool const goes_on = let_some_go(div_up(bytes - given, buffer_bytes_), most);
    std::size_t const before = given;
    remove();
    if (!goes_on) return;
    if (given > before) continue;
    let_all_go(most);
    return remove();
  }
}

/// Of buffers with memory some are spare, in proportion; but where there are few, all but one keep
/// blocks.
void block_cache::set_capacity() noexcept {
  if (buffers_ == most_buffers_) {
    capacity_ = block_count_;
    return;
  }
  std::size_t const spare = most_buffers_ - block_count_;
  std::size_t const in_proportion = buffers_ < usual_buffers_
                                        ? buffers_ * (usual_buffers_ - spare) / usual_buffers_
                                        : buffers_ - spare;
  std::size_t const but_one = std::min(buffers_, least_count_) - std::min<std::size_t>(buffers_, 1);
  capacity_ = std::min(std::max(in_proportion, but_one), block_count_);
}

/// Gives back the memory of groups, if there are too few buffers for them.
std::size_t block_cache::remove_groups() noexcept {
  if (groups_.empty() || has_groups_with(0)) return 0;
  for (group& each : groups_)
    if (auto const write = std::exchange(each.write, nullptr)) write->wait_outcome();
  groups_.clear();
  next_group_ = 0;
  std::size_t const bytes = round_up(group_count * group_bytes_, page_bytes());
  memory_.release_pages(groups_offset_, bytes);
  return bytes;
}

}  // namespace outsize::block
