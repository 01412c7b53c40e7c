// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort/recent_records.hpp>

#define XXH_INLINE_ALL  // records are short
#include <xxhash.h>

#include <limits>

#include <outsize/algorithm/sort/record_place.hpp>

namespace outsize::detail {

namespace {
constexpr auto nowhere = std::numeric_limits<std::uint64_t>::max();
}

recent_records::recent_records(std::span<std::byte> memory) noexcept
    : slots_(reinterpret_cast<slot*>(memory.data()), memory.size() / sizeof(slot)) {
  std::ranges::fill(slots_, slot{0, nowhere});
}

std::optional<std::uint64_t> recent_records::look_up(std::string_view record,
                                                     std::byte const* chunk,
                                                     std::uint64_t place) noexcept {
  std::uint64_t const hash = XXH3_64bits(record.data(), record.size());
  slot& s = slots_[hash & (slots_.size() - 1)];
  bool const found =
      s.hash == hash && s.place != nowhere && record_place::record(chunk, s.place) == record;
  finds_ += found ? 1 : 0;
  if (++looks_ == period) {
    if (finds_ * looks_for_find < looks_) slots_ = {};  // s stays what it is
    looks_ = finds_ = 0;
  }
  if (found) return s.place;
  s = {hash, place};
  return std::nullopt;
}

void recent_records::note(std::string_view record, std::uint64_t place) noexcept {
  if (slots_.empty()) return;
  std::uint64_t const hash = XXH3_64bits(record.data(), record.size());
  slots_[hash & (slots_.size() - 1)] = {hash, place};
}

}  // namespace outsize::detail
