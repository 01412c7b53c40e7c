// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Open addressing with linear probing; the table is at most three quarters full.
#include <outsize/text/detail/text_tally.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace outsize::detail {
namespace {

/// A quarter of the memory for slots suits texts of some 16 bytes; longer ones fill fewer slots.
constexpr std::size_t share_of_slots = 4;

}  // namespace

text_tally::text_tally(grant& memory, std::size_t bytes) : memory_(memory.allocate(bytes)) {
  std::size_t const count =
      std::max<std::size_t>(4, std::bit_floor(memory_.size() / share_of_slots / sizeof(slot)));
  std::size_t const slot_bytes = count * sizeof(slot);
  constexpr std::uint64_t addressable = std::uint64_t{std::numeric_limits<std::uint32_t>::max()};
  room_ = std::min<std::uint64_t>(memory_.size() - slot_bytes, (addressable - 1) * alignment);
  slots_ = {reinterpret_cast<slot*>(memory_.data() + memory_.size() - slot_bytes), count};
}

bool text_tally::add(std::string_view text) {
  std::uint64_t const hash = std::hash<std::string_view>{}(text);
  auto const tag = static_cast<std::uint32_t>(hash >> 32);
  std::size_t const mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    slot& candidate = slots_[i];
    if (candidate.place == 0) return insert(candidate, tag, text);
    if (candidate.tag != tag) continue;
    std::size_t const at = (candidate.place - 1) * alignment;
    entry head = head_at(at);
    if (text_at(at, head) != text) continue;
    ++head.count;
    std::memcpy(memory_.data() + at, &head, sizeof head);
    return true;
  }
}

bool text_tally::insert(slot& where, std::uint32_t tag, std::string_view text) {
  if (stride(text.size()) > room_ - used_ || size_ >= slots_.size() / 4 * 3) return false;
  entry const head{1, text.size()};
  std::memcpy(memory_.data() + used_, &head, sizeof head);
  if (!text.empty()) std::memcpy(memory_.data() + used_ + sizeof head, text.data(), text.size());
  where = {tag, static_cast<std::uint32_t>(used_ / alignment + 1)};
  used_ += stride(text.size());
  ++size_;
  return true;
}

void text_tally::clear() noexcept {
  std::ranges::fill(slots_, slot{});
  used_ = size_ = 0;
}

}  // namespace outsize::detail
