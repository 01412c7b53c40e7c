// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/block_cache.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <exception>
#include <numeric>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/cache_lines.hpp>
#include <outsize/base/detail/closed_memory.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::block {
namespace {

/// Longer than what a processor's caches would keep until it is used again: its memory is worth
/// taking over before it is filled (zero_past_caches).
bool is_long(block_id id) noexcept { return id.length_bytes >= 64_KiB; }

std::size_t buffer_bytes(block_device& device, block_cache_options const& options) {
  return round_up(std::max<std::size_t>(options.block_bytes, 1),
                  std::max(block_cache::buffer_alignment_bytes, device.alignment_bytes()));
}

/// What a group has room for; nothing if blocks are written one by one.
std::size_t group_bytes(block_device& device, block_cache_options const& options) {
  std::size_t const block_bytes = buffer_bytes(device, options);
  return options.write_bytes < 2 * block_bytes ? 0 : round_down(options.write_bytes, block_bytes);
}

/// Buffers whose memory is whole pages.
std::size_t buffers_of_pages(std::size_t buffer_bytes) {
  return page_bytes() / std::gcd(page_bytes(), buffer_bytes);
}

/// Where in its memory a cache has what.
struct memory_layout {
  std::size_t former_offset, groups_offset, bytes;
};

memory_layout layout_of(block_device& device, block_cache_options const& options) {
  constexpr std::size_t too_many = SIZE_MAX / 8;  // and no product or sum of such wraps
  memory_layout const refused{0, 0, too_many};
  if (options.block_bytes > too_many) return refused;
  std::size_t const bytes = buffer_bytes(device, options);
  std::size_t const most = too_many / bytes;
  if (std::max({options.block_count, options.spare_count, options.former_count}) > most)
    return refused;
  // What comes and goes by itself begins with a page.
  std::size_t const unit = options.least_count > 0 ? page_bytes() : 1;
  std::size_t const former =
      round_up(bytes * (std::max<std::size_t>(options.block_count, 1) + options.spare_count), unit);
  std::size_t const groups = round_up(former + bytes * options.former_count, unit);
  return {former, groups, groups + block_cache::group_count * group_bytes(device, options)};
}

bool goes_on(io::request_ptr const& transfer) noexcept { return transfer && !transfer->poll(); }

}  // namespace

std::size_t block_cache::memory_bytes(block_device& device, block_cache_options const& options) {
  return round_up(layout_of(device, options).bytes, page_bytes());
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
  slot.change();
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
      buffer_bytes_(buffer_bytes(device, options)),
      group_bytes_(group_bytes(device, options)),
      former_count_(options.former_count),
      former_offset_(layout_of(device, options).former_offset),
      groups_offset_(layout_of(device, options).groups_offset),
      least_count_(std::min(options.least_count, block_count_ + options.spare_count)),
      most_buffers_(block_count_ + options.spare_count),
      usual_buffers_(options.usual_count > 0 ? options.usual_count : most_buffers_),
      piece_buffers_(least_count_ > 0 ? buffers_of_pages(buffer_bytes_) : most_buffers_),
      capacity_(0),
      memory_(least_count_ > 0 ? memory.allocate_released(layout_of(device, options).bytes)
                               : memory.allocate(layout_of(device, options).bytes)),
      asker_(memory.asker()),
      policy_(std::move(policy)),
      has_memory_(div_up(most_buffers_, piece_buffers_)),
      free_(most_buffers_) {
  // Room that the system gives when it is used, so that nothing that follows fails.
  slots_.reserve(most_buffers_);
  without_memory_.reserve(most_buffers_);
  leaving_.reserve(most_buffers_);
  policy_->start(most_buffers_);
  if (least_count_ == 0) grow();
}

block_cache::~block_cache() {
  OUTSIZE_ASSERT(pinned_ == 0 || !process_.is_current());
  for (slot& x : slots_)
    if (x.transfer) end_transfer(x);
  for (former const& each : former_) OUTSIZE_ASSERT_HEAVY(is_as_left(each));
  detail::open_memory(memory_.bytes());
}

pinned_block block_cache::pin(block_id id) {
  auto const found = slot_of_.find(id);
  if (found == slot_of_.end()) {
    make_room();
    std::size_t const s = admit(id);
    ++counts_.misses;
    read_now(s);
    return add_pin(s);
  }
  std::size_t const s = found->second;
  ++counts_.hits;
  if (slots_[s].is == state::leaving) take_back(s);
  if (slots_[s].is == state::reading) end_read(s);
  return add_pin(s);
}

pinned_block block_cache::pin_new(block_id id) {
  pinned_block pinned = pin_to_replace(id);
  if (!is_long(id)) std::ranges::fill(content(pinned.slot_), std::byte{0});  // long: is zero
  return pinned;
}

pinned_block block_cache::pin_to_replace(block_id id) {
  OUTSIZE_ASSERT(!slot_of_.contains(id));
  make_room();
  std::size_t const s = admit(id);
  slots_[s].is = state::changed;
  if (is_long(id)) outsize::detail::zero_past_caches(content(s));
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

void block_cache::begin_prefetch(block_id id, bool may_wait) {
  if (auto const found = slot_of_.find(id); found != slot_of_.end()) return note_use(found->second);
  free_written();
  if (lacks_room()) ask_for_memory(false);
  while (kept_ >= capacity_) {
    if (kept_ == pinned_) return;
    std::size_t const s = victim();
    if (is_being_read(slots_[s]) || (!may_wait && waits_for_write(slots_[s]))) return;
    evict(s);
  }
  if (free_.empty()) {
    if (!may_wait) return;
    write_first_leaving();
  }
  bool const is_fresh = slots_[free_.front()].is == state::fresh;
  std::size_t const s = admit(id);
  if (is_fresh) touch(s);
  begin_read(s);
  ++counts_.prefetches;
}

io::request_ptr block_cache::reading(block_id id) const {
  auto const found = slot_of_.find(id);
  if (found == slot_of_.end() || !is_being_read(slots_[found->second])) return nullptr;
  return slots_[found->second].transfer;
}

/// Whether a block's content is still on its way.
bool block_cache::is_being_read(slot const& x) const noexcept {
  return x.is == state::reading && goes_on(x.transfer);
}

/// Whether a block that leaves waits for a write: of its own, of a group, or of one that left.
bool block_cache::waits_for_write(slot const& x) const noexcept {
  if (!x.must_be_written() && x.is != state::copied) return false;
  bool const is_group_busy = !groups_.empty() && goes_on(groups_[next_group_].write);
  return free_.empty() || (x.must_be_written() && (goes_on(x.transfer) || is_group_busy));
}

void block_cache::note_use(std::size_t s) noexcept {
  if (slots_[s].pins > 0 || slots_[s].is == state::leaving) return;
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
  for (std::size_t s = 0; s < slots_.size(); ++s) settle(s);
  try {
    write_groups(changed_by_place());
  } catch (...) {  // what has been begun must end
    first_error = std::current_exception();
  }
  for (std::size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].transfer && slots_[s].is != state::reading) try_to(&block_cache::end_write, s);
  if (first_error) std::rethrow_exception(first_error);
}

std::vector<std::size_t> block_cache::changed_by_place() const {
  std::vector<std::size_t> changed;
  for (std::size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].must_be_written()) changed.push_back(s);
  std::ranges::sort(changed, {}, [this](std::size_t s) {
    return std::pair(slots_[s].id.disk, slots_[s].id.offset_bytes);
  });
  return changed;
}

void block_cache::move(pinned_block const& block, block_id to) {
  slot& x = slots_[block.slot_];
  settle(block.slot_);
  OUTSIZE_ASSERT(block.cache_ == this && x.holds_block() && !x.transfer);
  OUTSIZE_ASSERT(x.id.length_bytes == to.length_bytes);
  auto entry = slot_of_.extract(x.id);  // without new memory: a place once given is where it is
  entry.key() = to;
  slot_of_.insert(std::move(entry));
  x.id = to;
  x.is = state::changed;
}

void block_cache::renew_memory(pinned_block const& block, bool keeps_content) noexcept {
  slot& x = slots_[block.slot_];
  OUTSIZE_ASSERT(block.cache_ == this && x.pins > 0 && (!x.transfer || x.has_copy_under_way()));
  if (former_.empty()) return;
  former& other = former_[next_former_];
  next_former_ = (next_former_ + 1) % former_.size();
  OUTSIZE_ASSERT_HEAVY(is_as_left(other));
  detail::open_memory(other.memory);
  if (keeps_content) std::ranges::copy(content(block.slot_), other.memory.begin());
  std::swap(x.memory, other.memory);
  if constexpr (detail::heavy_assertions) other.seal = checksum_of(other.memory);
}

/// Whether nobody has changed a buffer through a reference from before renew_memory().
bool block_cache::is_as_left(former const& old) const noexcept {
  return old.seal == 0 || old.seal == checksum_of(old.memory);
}

void block_cache::drop(block_id id) noexcept {
  auto const found = slot_of_.find(id);
  if (found == slot_of_.end()) return;
  slot& x = slots_[found->second];
  if (x.pins == 0) return forget(found->second);
  end_transfer(x);
  x.is = state::dropped;
  slot_of_.erase(found);
}

frame block_cache::content(std::size_t s) const noexcept {
  return slots_[s].memory.first(slots_[s].id.length_bytes);
}

/// Keeps `id` in a free slot, not pinned, without content; its memory is open.
std::size_t block_cache::admit(block_id id) {
  std::size_t const s = free_.front();
  detail::open_memory(slots_[s].memory);
  OUTSIZE_ASSERT(id && id.length_bytes <= slots_[s].memory.size());
  slot_of_.emplace(id, s);
  free_.pop_front();
  slots_[s].id = id;
  slots_[s].is = state::clean;
  ++kept_;
  policy_->enter(s, id);
  return s;
}

/// Sees to it that admit() has a free slot. A block leaves before a buffer is waited for, so that
/// with spare buffers its write goes on while the new block is read.
void block_cache::make_room() {
  free_written();
  if (lacks_room()) ask_for_memory(false);
  while (kept_ >= capacity_) {
    if (kept_ == pinned_ && buffers_ < most_buffers_) ask_for_memory(true);
    if (kept_ >= capacity_) evict(victim());
  }
  if (free_.empty()) write_first_leaving();
}

/// Whether a block has to leave for another, or none has been here before.
bool block_cache::lacks_room() const noexcept {
  return least_count_ > 0 && (kept_ >= capacity_ || slot_of_.empty());
}

void block_cache::ask_for_memory(bool must) {
  if (need_) need_(must);
}

std::size_t block_cache::victim() {
  if (kept_ == pinned_)
    throw budget_error(asker_, kept_ * buffer_bytes_, (kept_ + 1) * buffer_bytes_,
                       fmt::format("{}: all {} blocks of the cache are pinned", asker_, kept_));
  std::size_t const s = policy_->choose();
  OUTSIZE_ASSERT(s < slots_.size() && slots_[s].holds_block() && slots_[s].is != state::leaving &&
                 slots_[s].pins == 0);
  return s;
}

void block_cache::evict(std::size_t s) {
  slot& x = slots_[s];
  settle_if_ended(s);
  if (x.is == state::clean || x.is == state::reading) return forget(s);
  if (x.is == state::changed && !groups_.empty())
    if (auto const members = beside(s); members.size() > 1) begin_group(next_group(), members);
  policy_->leave(s);
  --kept_;
  bool const is_on_its_way = x.is == state::copied;
  x.is = state::leaving;
  leaving_.push_back(s);
  if (!is_on_its_way) begin_write(s);
}

/// Keeps a block again that was leaving. If its write has failed it is still changed.
void block_cache::take_back(std::size_t s) {
  while (kept_ >= capacity_) evict(victim());
  slot& x = slots_[s];
  auto const written = std::exchange(x.transfer, nullptr);
  x.is = written && written->wait_outcome().ok() ? state::clean : state::changed;
  close_unpinned(x);
  std::erase(leaving_, s);
  ++kept_;
  policy_->enter(s, x.id);
}

/// Waits for the write that has been under way longest, or does again one that has failed.
void block_cache::write_first_leaving() {
  std::size_t const s = leaving_.front();
  if (!slots_[s].transfer) begin_write(s);
  end_write(s);
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
  if (x.is == state::leaving) {
    std::erase(leaving_, s);
  } else {
    policy_->leave(s);
    --kept_;
  }
  if (x.is != state::dropped) slot_of_.erase(x.id);
  x = {.memory = x.memory, .is = state::free};
  close_unpinned(x);
  free_.push_back(s);
}

/// Nobody wants to know how it went, except of a write that is of other blocks too.
void block_cache::end_transfer(slot& x) noexcept {
  auto const transfer = std::exchange(x.transfer, nullptr);
  if (!transfer) return;
  bool const is_shared = std::ranges::find(groups_, transfer, &group::write) != groups_.end();
  if (is_shared || !transfer->cancel()) transfer->wait_outcome();
}

/// Has the system find pages for a fresh buffer, which takes it long, here: else that would happen
/// when the request is submitted, with others behind it.
void block_cache::touch(std::size_t s) noexcept {
  std::byte volatile* const begin = slots_[s].memory.data();
  for (std::size_t at = 0; at < slots_[s].memory.size(); at += page_bytes())
    begin[at] = std::byte{0};
}

void block_cache::begin_read(std::size_t s) {
  slots_[s].is = state::reading;
  try {
    slots_[s].transfer = device_.read(slots_[s].id, content(s));
  } catch (...) {
    forget(s);
    throw;
  }
}

void block_cache::read_now(std::size_t s) {
  try {
    device_.wait_for_block(slots_[s].id, *device_.read_now(slots_[s].id, content(s)));
  } catch (...) {
    forget(s);
    throw;
  }
}

/// Waits for the read of the slot. @pre there is one.
void block_cache::end_read(std::size_t s) {
  slot& x = slots_[s];
  auto const reading = std::exchange(x.transfer, nullptr);
  x.is = state::clean;
  try {
    device_.wait_for_block(x.id, *reading);
  } catch (...) {
    forget(s);
    throw;
  }
}

/// Of a block that is leaving, or changed while flush() waits.
void block_cache::begin_write(std::size_t s) {
  slot& x = slots_[s];
  detail::open_memory(x.memory);
  x.transfer = device_.write(x.id, content(s));
  if (x.is == state::changed) x.is = state::writing;
  ++counts_.write_backs;
}

/// Closes the memory of a block that nobody may refer into. @pre it takes part in no request.
void block_cache::close_unpinned(slot const& x) noexcept {
  if (x.pins == 0) detail::close_memory(x.memory);
}

/// Waits for the write of the slot. A block that was leaving is gone then; one that is kept is
/// clean, unless it is pinned, as its user may change it further. If the write has failed the block
/// stays as it was, and is to be written.
void block_cache::end_write(std::size_t s) {
  slot& x = slots_[s];
  if (x.is != state::leaving) x.is = state::changed;
  auto const write = std::exchange(x.transfer, nullptr);
  write->wait_outcome();
  close_unpinned(x);
  write->wait();  // throws if it has failed
  if (x.is == state::leaving) return forget(s);
  if (x.pins == 0) x.is = state::clean;
}

// ---- several at once

/// Whether a block is here, changed, and can be written from a copy while it stays.
bool block_cache::can_join(block_id const& id) const noexcept {
  auto const found = slot_of_.find(id);
  if (found == slot_of_.end()) return false;
  slot const& x = slots_[found->second];
  return x.is == state::changed && x.pins == 0 && x.id.length_bytes == id.length_bytes;
}

/// The slots of a changed block and of those beside it that can be written with it, by place; first
/// those behind it, which under LRU were changed after it.
std::vector<std::size_t> block_cache::beside(std::size_t s) const {
  block_id const& id = slots_[s].id;
  std::size_t const most = groups_.front().memory.size() / id.length_bytes;
  block_id first = id;
  block_id last = id;
  std::size_t count = 1;
  for (block_id next = last; count < most; ++count, last = next) {
    next.offset_bytes += id.length_bytes;
    if (!can_join(next)) break;
  }
  for (block_id next = first; count < most; ++count, first = next) {
    if (next.offset_bytes < id.length_bytes) break;
    next.offset_bytes -= id.length_bytes;
    if (!can_join(next)) break;
  }
  std::vector<std::size_t> members;
  for (; count > 0; --count, first.offset_bytes += id.length_bytes)
    members.push_back(slot_of_.at(first));
  return members;
}

/// Begins to write blocks that are side by side.
void block_cache::begin_group(group& with, std::span<std::size_t const> members) {
  block_id const first = slots_[members.front()].id;
  std::size_t const bytes = members.size() * first.length_bytes;
  auto to = with.memory.begin();
  for (std::size_t const s : members) {
    detail::open_memory(slots_[s].memory);
    to = std::ranges::copy(content(s), to).out;
    close_unpinned(slots_[s]);
  }
  with.write = device_.write(first, with.memory.first(bytes));
  for (std::size_t const s : members) {
    slots_[s].transfer = with.write;
    slots_[s].is = state::copied;
  }
  counts_.write_backs += members.size();
}

/// One whose write is done. To wait for it costs less than to write its blocks by themselves.
block_cache::group& block_cache::next_group() noexcept {
  group& oldest = groups_[next_group_];
  if (auto const write = std::exchange(oldest.write, nullptr)) write->wait_outcome();
  next_group_ = (next_group_ + 1) % groups_.size();
  return oldest;
}

/// Begins to write changed blocks, which come by place.
void block_cache::write_groups(std::span<std::size_t const> changed) {
  while (!changed.empty()) {
    slot const& first = slots_[changed.front()];
    std::size_t const length = first.id.length_bytes;
    std::size_t const most = groups_.empty() ? 1 : groups_.front().memory.size() / length;
    auto const follows = [&](std::size_t count) {
      slot const& next = slots_[changed[count]];
      return first.is != state::leaving && next.is != state::leaving &&
             next.id.disk == first.id.disk &&
             next.id.offset_bytes == first.id.offset_bytes + count * length &&
             next.id.length_bytes == length;
    };
    std::size_t count = 1;
    while (count < std::min(most, changed.size()) && follows(count)) ++count;
    if (count > 1) {
      begin_group(next_group(), changed.first(count));
    } else if (!first.transfer) {
      begin_write(changed.front());
    }
    changed = changed.subspan(count);
  }
}

/// Waits for the write of a copy of a block that is kept, if there is one. If it has failed, the
/// block is changed as before; whoever needs it to be written will be told.
void block_cache::settle(std::size_t s) noexcept {
  slot& x = slots_[s];
  if (!x.has_copy_under_way()) return;
  bool const is_written = std::exchange(x.transfer, nullptr)->wait_outcome().ok();
  x.is = is_written && x.is == state::copied ? state::clean : state::changed;
}

/// The same if that needs no wait, or the copy is not what the block has now.
void block_cache::settle_if_ended(std::size_t s) noexcept {
  slot const& x = slots_[s];
  if (x.is == state::changed_again || (x.is == state::copied && x.transfer->poll())) settle(s);
}

pinned_block block_cache::add_pin(std::size_t s) noexcept {
  if (slots_[s].pins++ == 0) {
    detail::open_memory(slots_[s].memory);
    policy_->leave(s);
    ++pinned_;
  }
  return {*this, s};
}

void block_cache::remove_pin(std::size_t s) noexcept {
  if (--slots_[s].pins > 0) return;
  --pinned_;
  close_unpinned(slots_[s]);
  policy_->enter(s, slots_[s].id);
  if (slots_[s].is == state::dropped) forget(s);
}

}  // namespace outsize::block
