// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Fixed-length binary records and the order that keys inside them define. Layer: record; plain
// values without I/O. Every key has a normalised form of the same length, a big-endian byte string
// whose lexicographic order is the order of the key; the order of records is that of the normalised
// keys, concatenated, and a prefix is simply the first eight bytes of that string:
//
//     record   | .. | key 2 (u16) | ...... | key 1 (bytes:3, reversed) | ..
//     prefix   | ~k1[0] ~k1[1] ~k1[2] | k2 high, k2 low | 0 0 0 |
//
// Numbers are little-endian in the file, whatever the machine. Immutable after construction, so
// every method may be called from any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <outsize/kernel/deepening_order.hpp>

namespace outsize {

/// What one item of a binary file is.
struct record_format {
  /// Types of whole items and of keys; numbers are little-endian.
  enum class kind : std::uint8_t { bytes, u8, u16, u32, u64, i8, i16, i32, i64, f32, f64 };

  kind item = kind::bytes;
  std::size_t item_bytes = 1;

  /// Reads `u32|u64|i32|i64|f32|f64|bytes:N`.
  ///
  /// Errors:  std::invalid_argument, one line naming the text.
  static record_format parse(std::string_view text);

  friend bool operator==(record_format const&, record_format const&) = default;
};

/// A part of a record that takes part in its order.
struct record_key {
  std::size_t offset_bytes = 0;
  std::size_t length_bytes = 0;
  record_format::kind type = record_format::kind::bytes;
  bool reverse = false;  ///< largest first

  /// Reads `OFFSET:LENGTH[:TYPE[:r]]`, offsets from 0; TYPE is bytes (the default), u8 to u64,
  /// i8 to i64, f32 or f64.
  ///
  /// Errors:  std::invalid_argument, one line naming the text; a LENGTH that does not suit TYPE is
  ///          one of them.
  static record_key parse(std::string_view text);

  friend bool operator==(record_key const&, record_key const&) = default;
};

/// The order of records: by the keys, the first that differs decides; floating-point keys by IEEE
/// totalOrder (-NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN), so that every bit pattern has its
/// place. Records with equal keys are equivalent; who sorts leaves them in input order.
class record_order {
 public:
  /// Orders records of `format` by `keys`; without keys the whole item is the one key. `reverse`
  /// turns the direction of every key, those that are reversed already included.
  ///
  /// Errors:  std::invalid_argument naming both numbers if a key ends beyond the record.
  explicit record_order(record_format format, std::vector<record_key> keys = {},
                        bool reverse = false);

  /// Returns a number for which prefix(a) < prefix(b) implies that a comes before b. Equal prefixes
  /// decide nothing unless prefix_is_whole_key(). `record` is one whole record.
  std::uint64_t prefix(std::string_view record) const noexcept;

  /// Returns a negative number, 0 or a positive number as `a` comes before, with or after `b`.
  int compare(std::string_view a, std::string_view b) const noexcept;

  /// Returns compare(a, b) == 0, somewhat faster: equal keys have equal bytes.
  bool equal_keys(std::string_view a, std::string_view b) const noexcept;

  /// True if all keys together have at most eight bytes, so that equal prefixes mean equal keys.
  bool prefix_is_whole_key() const noexcept { return key_bytes_ <= sizeof(std::uint64_t); }

  // A deepening_order: the normalised keys, concatenated, are one byte string; no records are alike
  // in more bytes than it has.

  static key_depth prefix_depth(std::uint64_t) noexcept { return {.bytes = sizeof(std::uint64_t)}; }
  std::uint64_t deeper_prefix(std::string_view record, key_depth depth) const noexcept;
  static key_depth deeper_depth(std::uint64_t, key_depth depth) noexcept {
    return {.bytes = depth.bytes + sizeof(std::uint64_t)};
  }
  key_depth common_depth(std::string_view a, std::string_view b, key_depth depth) const noexcept;
  bool is_whole_key(key_depth depth) const noexcept { return depth.bytes >= key_bytes_; }
  static constexpr std::size_t most_looks = std::numeric_limits<std::size_t>::max();

  /// True if the whole item is one byte string and smaller strings come first.
  bool is_byte_order() const noexcept;

  record_format const& format() const noexcept { return format_; }
  std::vector<record_key> const& keys() const noexcept { return keys_; }

 private:
  record_format format_;
  std::vector<record_key> keys_;  // never empty; directions include the reversal of the whole
  std::size_t key_bytes_ = 0;     // of all keys together
};

}  // namespace outsize
