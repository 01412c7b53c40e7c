// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/family/recent_records.hpp>

#define XXH_INLINE_ALL  // records are short
#include <xxhash.h>

namespace outsize::detail {

recent_records::recent_records(std::span<std::byte> memory) noexcept
    : slots_(reinterpret_cast<slot*>(memory.data()), memory.size() / sizeof(slot)) {
  std::ranges::fill(slots_, slot{0, nowhere});
}

recent_records::hash recent_records::hash_of_bytes(std::string_view record) noexcept {
  return record_place::is_long(record.size()) ? 0 : XXH3_64bits(record.data(), record.size());
}

void recent_records::look_ahead(std::span<std::string_view const> records, std::byte const* chunk,
                                std::span<hash> hashes) const noexcept {
  if (slots_.empty()) {
    std::ranges::fill(hashes.first(records.size()), 0);
    return;
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    hashes[i] = hash_of_bytes(records[i]);
    // Something is asked for in any case: whether a record is known cannot be predicted.
    slot const& s = slot_of(hashes[i]);
    std::uint64_t const known =
        std::uint64_t{s.hash == hashes[i]} & std::uint64_t{s.place != nowhere};
    __builtin_prefetch(chunk + (record_place::offset(s.place) & (0 - known)));
  }
}

void recent_records::end_period() noexcept {
  if (finds_ * looks_for_find < looks_) slots_ = {};
  looks_ = finds_ = 0;
}

}  // namespace outsize::detail
