// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings behind a 64-bit number that travels with them through a sorter, and an order that
// looks at the one or the other.
//
//   | number, big-endian, 8 bytes | text |
//
// Values, safe from any thread. Layer: text.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <outsize/kernel/byte_order.hpp>
#include <outsize/text/line_order.hpp>

namespace outsize::text {

inline constexpr std::size_t header_bytes = sizeof(std::uint64_t);

/// Makes `record` consist of `number` and `text`.
inline void assign_headed(std::string& record, std::uint64_t number, std::string_view text) {
  if constexpr (std::endian::native == std::endian::little) number = __builtin_bswap64(number);
  record.resize(header_bytes);
  std::memcpy(record.data(), &number, header_bytes);
  record.append(text);
}

/// The number of a record. What is missing of a shorter one counts as zeros.
inline std::uint64_t header_of(std::string_view record) noexcept {
  return byte_order{}.prefix(record);
}

/// What stands behind the number; empty for a shorter record.
inline std::string_view behind_header(std::string_view record) noexcept {
  return record.substr(std::min(header_bytes, record.size()));
}

/// Records by what stands behind their numbers, in an order of lines, or by their numbers alone; a
/// model of record_ordering. One type for both, as a sorter is compiled anew for each.
class headed_order {
 public:
  /// By the numbers.
  headed_order() = default;
  /// By what is behind them, in the order `text`, which must outlive this one.
  explicit headed_order(line_order const& text) noexcept : text_(&text) {}

  std::uint64_t prefix(std::string_view record) const noexcept {
    return text_ ? text_->prefix(behind_header(record)) : header_of(record);
  }
  int compare(std::string_view a, std::string_view b) const noexcept {
    if (text_) return text_->compare(behind_header(a), behind_header(b));
    std::uint64_t const left = header_of(a);
    std::uint64_t const right = header_of(b);
    return int{left > right} - int{left < right};
  }
  bool equal_keys(std::string_view a, std::string_view b) const noexcept {
    return text_ ? text_->equal_keys(behind_header(a), behind_header(b))
                 : header_of(a) == header_of(b);
  }

 private:
  line_order const* text_ = nullptr;
};

}  // namespace outsize::text
