// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Short records whose order one key of at most eight bytes decides, as items of a type: how sorts
// of files reach the kernels for such items.
//
// The key is a part of eight bytes that are loaded at once:
//
//   record:  | . . . . k k k k . . . . |      word: ((load >> shift) & mask), turned into order
//                  [ load, 8 bytes ]
//
// Pure functions. Layer: record.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <outsize/record/record_format.hpp>

namespace outsize::detail {

template <std::size_t Bytes>
using short_record = std::array<std::byte, Bytes>;

/// The order of short records by one key: word(a) < word(b) exactly if a comes before b.
class record_word {
 public:
  /// Whether records of this order are compared by one key that a word holds.
  static bool serves(record_order const& order) noexcept {
    return order.keys().size() == 1 && order.prefix_is_whole_key() &&
           order.format().item_bytes >= sizeof(std::uint64_t);
  }

  /// @pre serves(order).
  explicit record_word(record_order const& order) noexcept {
    record_key const& key = order.keys().front();
    std::size_t const last = order.format().item_bytes - sizeof(std::uint64_t);
    load_bytes_ = std::min(key.offset_bytes, last);
    shift_ = static_cast<unsigned>(8 * (key.offset_bytes - load_bytes_));
    auto const unused = static_cast<unsigned>(64 - 8 * key.length_bytes);
    mask_ = ~std::uint64_t{0} >> unused;
    std::uint64_t const sign = mask_ ^ mask_ >> 1;
    switch (key.type) {
      case record_format::kind::bytes:
        is_big_endian_ = true;
        turned_ = key.reverse ? mask_ << unused : 0;  // where its bytes are then
        return;
      case record_format::kind::f32:
      case record_format::kind::f64:
        turned_if_negative_ = mask_ ^ sign;
        [[fallthrough]];
      case record_format::kind::i8:
      case record_format::kind::i16:
      case record_format::kind::i32:
      case record_format::kind::i64:
        turned_ = sign;
        break;
      default:
        break;
    }
    if (key.reverse) turned_ ^= mask_;
    sign_bit_ = static_cast<unsigned>(8 * key.length_bytes - 1);
  }

  template <std::size_t Bytes>
  std::uint64_t word(short_record<Bytes> const& record) const noexcept {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t load;
    std::memcpy(&load, record.data() + load_bytes_, sizeof load);
    std::uint64_t const key = load >> shift_ & mask_;
    if (is_big_endian_) return __builtin_bswap64(key) ^ turned_;
    std::uint64_t const negative = std::uint64_t{0} - (key >> sign_bit_ & 1);
    return key ^ turned_ ^ (negative & turned_if_negative_);
  }

  template <std::size_t Bytes>
  bool operator()(short_record<Bytes> const& a, short_record<Bytes> const& b) const noexcept {
    return word(a) < word(b);
  }

 private:
  std::size_t load_bytes_ = 0;
  unsigned shift_ = 0;
  unsigned sign_bit_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t turned_ = 0;              // bits, of each key
  std::uint64_t turned_if_negative_ = 0;  // likewise
  bool is_big_endian_ = false;
};

}  // namespace outsize::detail
