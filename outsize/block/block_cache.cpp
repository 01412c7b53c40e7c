// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/block_cache.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <exception>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::block {
namespace {

std::size_t buffer_bytes(block_device& device, block_cache_options const& options) {
  return round_up(std::max<std::size_t>(options.block_bytes, 1),
                  std::max(block_cache::buffer_alignment_bytes, device.alignment_bytes()));
}

}  // namespace

std::size_t block_cache::memory_bytes(block_device& device, block_cache_options const& options) {
  std::size_t const count = std::max<std::size_t>(options.block_count, 1) + options.spare_count;
  return round_up(buffer_bytes(device, options) * count, page_bytes());
}

pinned_block& pinned_block::operator=(pinned_block&& other) noexcept {
  if (this == &other) return *this;
  release();
  cache_ = std::exchange(other.cache_, nullptr);
  slot_ = other.slot_;
  return *this;
}

block_id pinned_block::id() const noexcept {
  OUTSIZE_ASSERT(cache_ != nullptr);
  return cache_->slots_[slot_].id;
}

std::span<std::byte const> pinned_block::bytes() const noexcept {
  OUTSIZE_ASSERT(cache_ != nullptr);
  return cache_->content(slot_);
}

std::span<std::byte> pinned_block::change() noexcept {
  OUTSIZE_ASSERT(cache_ != nullptr);
  auto& slot = cache_->slots_[slot_];
  slot.changed = !slot.dropped;
  return cache_->content(slot_);
}

void pinned_block::release() noexcept {
  if (cache_ != nullptr) std::exchange(cache_, nullptr)->remove_pin(slot_);
}

std::size_t block_cache::hash_of_id::operator()(block_id const& id) const noexcept {
  return std::hash<std::uint64_t>()(id.offset_bytes ^ (std::uint64_t{id.disk} << 48));
}

block_cache::block_cache(block_device& device, grant& memory, block_cache_options const& options,
                         std::unique_ptr<replacement> policy)
    : device_(device),
      block_count_(std::max<std::size_t>(options.block_count, 1)),
      memory_(
          memory.allocate(buffer_bytes(device, options) * (block_count_ + options.spare_count))),
      asker_(memory.asker()),
      policy_(std::move(policy)),
      slots_(block_count_ + options.spare_count) {
  std::size_t const bytes = buffer_bytes(device, options);
  free_.reserve(slots_.size());
  leaving_.reserve(options.spare_count + 1);
  slot_of_.reserve(slots_.size());
  for (std::size_t s = slots_.size(); s-- > 0;) {
    slots_[s].memory = memory_.bytes().subspan(s * bytes, bytes);
    free_.push_back(s);
  }
  policy_->start(slots_.size());
}

block_cache::~block_cache() {
  OUTSIZE_ASSERT(pinned_ == 0);
  for (slot& x : slots_) end_transfer(x);
}

pinned_block block_cache::pin(block_id id) {
  auto const found = slot_of_.find(id);
  if (found == slot_of_.end()) {
    make_room();
    std::size_t const s = admit(id);
    begin_read(s);
    ++counts_.misses;
    end_read(s);
    return add_pin(s);
  }
  std::size_t const s = found->second;
  ++counts_.hits;
  if (slots_[s].leaving) take_back(s);
  end_read(s);
  return add_pin(s);
}

pinned_block block_cache::pin_new(block_id id) {
  pinned_block pinned = pin_to_replace(id);
  std::ranges::fill(content(pinned.slot_), std::byte{0});
  return pinned;
}

pinned_block block_cache::pin_to_replace(block_id id) {
  OUTSIZE_ASSERT(!slot_of_.contains(id));
  make_room();
  std::size_t const s = admit(id);
  slots_[s].changed = true;
  return add_pin(s);
}

pinned_block block_cache::pin_copy(block_id id, std::span<std::byte const> read) {
  OUTSIZE_ASSERT(!slot_of_.contains(id) && read.size() == id.length_bytes);
  make_room();
  std::size_t const s = admit(id);
  std::ranges::copy(read, content(s).begin());
  ++counts_.prefetches;
  ++counts_.hits;
  return add_pin(s);
}

void block_cache::prefetch(block_id id) {
  if (auto const found = slot_of_.find(id); found != slot_of_.end()) return note_use(found->second);
  free_written();
  if (kept_ == block_count_) {
    if (kept_ == pinned_) return;
    std::size_t const s = victim();
    slot const& x = slots_[s];
    bool const waits = x.changed ? free_.empty() : x.transfer && !x.transfer->poll();
    if (waits) return;
    evict(s);
  }
  if (free_.empty()) return;
  begin_read(admit(id));
  ++counts_.prefetches;
}

void block_cache::note_use(std::size_t s) noexcept {
  if (slots_[s].pins > 0 || slots_[s].leaving) return;
  policy_->leave(s);
  policy_->enter(s, slots_[s].id);
}

void block_cache::flush() {
  std::exception_ptr first_error;
  auto const try_to = [&](void (block_cache::*step)(std::size_t), std::size_t s) {
    try {
      (this->*step)(s);
    } catch (...) {
      if (!first_error) first_error = std::current_exception();
    }
  };
  for (std::size_t const s : changed_by_place())
    if (!slots_[s].transfer) try_to(&block_cache::begin_write, s);
  for (std::size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].changed && slots_[s].transfer) try_to(&block_cache::end_write, s);
  for (std::size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].leaving && !slots_[s].changed) forget(s);
  if (first_error) std::rethrow_exception(first_error);
}

std::vector<std::size_t> block_cache::changed_by_place() const {
  std::vector<std::size_t> changed;
  for (std::size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].changed) changed.push_back(s);
  std::ranges::sort(changed, {}, [this](std::size_t s) {
    return std::pair(slots_[s].id.disk, slots_[s].id.offset_bytes);
  });
  return changed;
}

void block_cache::move(pinned_block const& block, block_id to) {
  slot& x = slots_[block.slot_];
  OUTSIZE_ASSERT(block.cache_ == this && !x.dropped && !x.transfer);
  OUTSIZE_ASSERT(x.id.length_bytes == to.length_bytes);
  slot_of_.emplace(to, block.slot_);
  slot_of_.erase(x.id);
  x.id = to;
  x.changed = true;
}

void block_cache::drop(block_id id) noexcept {
  auto const found = slot_of_.find(id);
  if (found == slot_of_.end()) return;
  slot& x = slots_[found->second];
  if (x.pins == 0) return forget(found->second);
  end_transfer(x);
  x.changed = false;
  x.dropped = true;
  slot_of_.erase(found);
}

frame block_cache::content(std::size_t s) const noexcept {
  return slots_[s].memory.first(slots_[s].id.length_bytes);
}

/// Keeps `id` in a free slot, not pinned, without content.
std::size_t block_cache::admit(block_id id) {
  std::size_t const s = free_.back();
  OUTSIZE_ASSERT(id && id.length_bytes <= slots_[s].memory.size());
  slot_of_.emplace(id, s);
  free_.pop_back();
  slots_[s].id = id;
  ++kept_;
  policy_->enter(s, id);
  return s;
}

/// Sees to it that admit() has a free slot. A block leaves before a buffer is waited for, so that
/// with spare buffers its write goes on while the new block is read.
void block_cache::make_room() {
  free_written();
  if (kept_ == block_count_) evict(victim());
  if (free_.empty()) write_first_leaving();
}

std::size_t block_cache::victim() {
  if (kept_ == pinned_)
    throw budget_error(
        asker_, block_count_ * slots_[0].memory.size(),
        (block_count_ + 1) * slots_[0].memory.size(),
        fmt::format("{}: all {} blocks of the cache are pinned", asker_, block_count_));
  std::size_t const s = policy_->choose();
  OUTSIZE_ASSERT(s < slots_.size() && slots_[s].id && !slots_[s].leaving && slots_[s].pins == 0);
  return s;
}

void block_cache::evict(std::size_t s) {
  if (!slots_[s].changed) return forget(s);
  policy_->leave(s);
  --kept_;
  slots_[s].leaving = true;
  leaving_.push_back(s);
  begin_write(s);
}

/// Keeps a block again that was leaving. If its write has failed it is still changed.
void block_cache::take_back(std::size_t s) {
  if (kept_ == block_count_) evict(victim());
  slot& x = slots_[s];
  auto const written = std::exchange(x.transfer, nullptr);
  if (written && written->wait_outcome().ok()) x.changed = false;
  std::erase(leaving_, s);
  x.leaving = false;
  ++kept_;
  policy_->enter(s, x.id);
}

/// Waits for the write that has been under way longest, or does again one that has failed.
void block_cache::write_first_leaving() {
  std::size_t const s = leaving_.front();
  if (!slots_[s].transfer) begin_write(s);
  end_write(s);
  forget(s);
}

/// Frees the slots of those leaving whose writes have succeeded by now. The error of one that has
/// failed stays for end_write() to throw.
void block_cache::free_written() noexcept {
  auto const is_written = [this](std::size_t s) {
    auto const& write = slots_[s].transfer;
    return write && write->poll() && write->wait_outcome().ok();
  };
  for (std::size_t i = leaving_.size(); i-- > 0;)
    if (is_written(leaving_[i])) forget(leaving_[i]);
}

/// Frees a slot that is not pinned, whatever is under way.
void block_cache::forget(std::size_t s) noexcept {
  slot& x = slots_[s];
  OUTSIZE_ASSERT(x.pins == 0);
  end_transfer(x);
  if (x.leaving) {
    std::erase(leaving_, s);
  } else {
    policy_->leave(s);
    --kept_;
  }
  if (!x.dropped) slot_of_.erase(x.id);
  x = {.memory = x.memory};
  free_.push_back(s);
}

/// Nobody wants to know how it went.
void block_cache::end_transfer(slot& x) noexcept {
  auto const transfer = std::exchange(x.transfer, nullptr);
  if (transfer && !transfer->cancel()) transfer->wait_outcome();
}

void block_cache::begin_read(std::size_t s) {
  try {
    slots_[s].transfer = device_.read(slots_[s].id, content(s));
  } catch (...) {
    forget(s);
    throw;
  }
}

/// Waits for the read of the slot, if there is one.
void block_cache::end_read(std::size_t s) {
  slot& x = slots_[s];
  auto const reading = std::exchange(x.transfer, nullptr);
  if (!reading) return;
  try {
    device_.wait_for_block(x.id, *reading);
  } catch (...) {
    forget(s);
    throw;
  }
}

void block_cache::begin_write(std::size_t s) {
  slots_[s].transfer = device_.write(slots_[s].id, content(s));
  ++counts_.write_backs;
}

/// Waits for the write of the slot; while it is pinned its user may change it further.
void block_cache::end_write(std::size_t s) {
  std::exchange(slots_[s].transfer, nullptr)->wait();
  slots_[s].changed = slots_[s].pins > 0;
}

pinned_block block_cache::add_pin(std::size_t s) noexcept {
  if (slots_[s].pins++ == 0) {
    policy_->leave(s);
    ++pinned_;
  }
  return {*this, s};
}

void block_cache::remove_pin(std::size_t s) noexcept {
  if (--slots_[s].pins > 0) return;
  --pinned_;
  policy_->enter(s, slots_[s].id);
  if (slots_[s].dropped) forget(s);
}

}  // namespace outsize::block
