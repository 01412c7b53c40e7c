// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Reading of record formats and keys, and the comparison of records by normalised keys. Loads go
// byte by byte in the source, which compilers turn into one load and, where needed, one byte swap.
#include <outsize/record/record_format.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include <outsize/base/detail/byte_words.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>

namespace outsize {
namespace {

using kind = record_format::kind;

struct type_row {
  std::string_view name;
  kind type;
  std::size_t bytes;  // 0: any length
  bool is_format;     // may be a whole item of its own
};

constexpr std::array<type_row, 11> types{{{"bytes", kind::bytes, 0, false},
                                          {"u8", kind::u8, 1, false},
                                          {"u16", kind::u16, 2, false},
                                          {"u32", kind::u32, 4, true},
                                          {"u64", kind::u64, 8, true},
                                          {"i8", kind::i8, 1, false},
                                          {"i16", kind::i16, 2, false},
                                          {"i32", kind::i32, 4, true},
                                          {"i64", kind::i64, 8, true},
                                          {"f32", kind::f32, 4, true},
                                          {"f64", kind::f64, 8, true}}};

std::optional<std::size_t> parse_count(std::string_view digits) {
  std::size_t value = 0;
  auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

type_row const* find_type(std::string_view name) {
  auto const* row = std::ranges::find(types, name, &type_row::name);
  return row == types.end() ? nullptr : row;
}

/// Cuts the text up to the next colon off the front of `rest`; nothing is left after the last part.
std::string_view next_part(std::optional<std::string_view>& rest) {
  std::string_view const text = *rest;
  auto const colon = text.find(':');
  if (colon == std::string_view::npos) {
    rest.reset();
    return text;
  }
  rest = text.substr(colon + 1);
  return text.substr(0, colon);
}

std::uint64_t load_big(char const* at, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

/// The little-endian number at that place, as an unsigned one of the same order.
template <std::unsigned_integral U>
std::uint64_t ordered_number(char const* at, detail::ordered_bits::kind values) noexcept {
  U bits = 0;
  for (std::size_t i = 0; i < sizeof(U); ++i)
    bits |= static_cast<U>(U{static_cast<unsigned char>(at[i])} << (8 * i));
  return detail::ordered_bits{values}.encode(bits);
}

std::uint64_t leading_bytes(char const* at, std::size_t length_bytes) noexcept {
  return length_bytes >= 8 ? detail::big_endian_at<std::uint64_t>(at) : load_big(at, length_bytes);
}

/// Returns the normalised number of a key that is one.
std::uint64_t normalised_number(record_format::kind type, char const* at) noexcept {
  using values = detail::ordered_bits::kind;
  switch (type) {
    case kind::bytes:
      break;
    case kind::u8:
      return ordered_number<std::uint8_t>(at, values::unsigned_integer);
    case kind::u16:
      return ordered_number<std::uint16_t>(at, values::unsigned_integer);
    case kind::u32:
      return ordered_number<std::uint32_t>(at, values::unsigned_integer);
    case kind::u64:
      return ordered_number<std::uint64_t>(at, values::unsigned_integer);
    case kind::i8:
      return ordered_number<std::uint8_t>(at, values::signed_integer);
    case kind::i16:
      return ordered_number<std::uint16_t>(at, values::signed_integer);
    case kind::i32:
      return ordered_number<std::uint32_t>(at, values::signed_integer);
    case kind::i64:
      return ordered_number<std::uint64_t>(at, values::signed_integer);
    case kind::f32:
      return ordered_number<std::uint32_t>(at, values::floating_point);
    case kind::f64:
      return ordered_number<std::uint64_t>(at, values::floating_point);
  }
  return 0;
}

/// Returns the first min(8, length) bytes of what is left of the normalised key behind its first
/// `skipped` bytes, which are fewer than it has, in the low bits of the result.
std::uint64_t leading_key(record_key const& key, char const* record, std::size_t skipped) noexcept {
  char const* const at = record + key.offset_bytes;
  std::size_t const left = key.length_bytes - skipped;
  if (key.type == kind::bytes) return leading_bytes(at + skipped, left);
  return normalised_number(key.type, at) & (~std::uint64_t{0} >> (64 - 8 * left));
}

int compare_key(record_key const& key, char const* a, char const* b) noexcept {
  if (key.type == kind::bytes) {
    return std::memcmp(a + key.offset_bytes, b + key.offset_bytes, key.length_bytes);
  }
  std::uint64_t const left = normalised_number(key.type, a + key.offset_bytes);
  std::uint64_t const right = normalised_number(key.type, b + key.offset_bytes);
  return left < right ? -1 : static_cast<int>(left > right);
}

void check_inside(record_key const& key, std::size_t item_bytes) {
  if (key.length_bytes == 0) throw std::invalid_argument("a key needs at least one byte");
  if (key.length_bytes <= item_bytes && key.offset_bytes <= item_bytes - key.length_bytes) return;
  throw std::invalid_argument(fmt::format("key {}:{} ends beyond the record, which has {} bytes",
                                          key.offset_bytes, key.length_bytes, item_bytes));
}

}  // namespace

record_format record_format::parse(std::string_view text) {
  constexpr std::string_view bytes_tag = "bytes:";
  if (text.starts_with(bytes_tag)) {
    auto const count = parse_count(text.substr(bytes_tag.size()));
    if (count && *count > 0) return {.item = kind::bytes, .item_bytes = *count};
    throw std::invalid_argument(
        fmt::format("format '{}': the length must be a positive number of bytes", text));
  }
  auto const* row = find_type(text);
  if (row != nullptr && row->is_format) return {.item = row->type, .item_bytes = row->bytes};
  throw std::invalid_argument(fmt::format(
      "format '{}' is unknown; there are u32, u64, i32, i64, f32, f64 and bytes:N", text));
}

record_key record_key::parse(std::string_view text) {
  auto const fail = [&](std::string_view cause) {
    throw std::invalid_argument(fmt::format("record key '{}': {}", text, cause));
  };
  std::optional<std::string_view> rest = text;
  auto const offset = parse_count(next_part(rest));
  if (!offset || !rest) fail("expected OFFSET:LENGTH[:TYPE[:r]]");
  auto const length = parse_count(next_part(rest));
  if (!length || *length == 0) fail("the length must be a positive number of bytes");

  record_key key{.offset_bytes = *offset, .length_bytes = *length};
  if (rest) {
    auto const name = next_part(rest);
    auto const* row = find_type(name);
    if (row == nullptr) fail(fmt::format("'{}' is no type", name));
    if (row->bytes != 0 && row->bytes != *length) {
      fail(fmt::format("{} has {} bytes, not {}", name, row->bytes, *length));
    }
    key.type = row->type;
  }
  if (rest) {
    if (*rest != "r") fail(fmt::format("after the type comes r or nothing, not '{}'", *rest));
    key.reverse = true;
  }
  return key;
}

record_order::record_order(record_format format, std::vector<record_key> keys, bool reverse)
    : format_(format), keys_(std::move(keys)) {
  if (keys_.empty()) keys_.push_back({.length_bytes = format.item_bytes, .type = format.item});
  for (auto& key : keys_) {
    check_inside(key, format.item_bytes);
    key.reverse = key.reverse != reverse;
    key_bytes_ += key.length_bytes;
  }
}

std::uint64_t record_order::prefix(std::string_view record) const noexcept {
  return deeper_prefix(record, {});
}

std::uint64_t record_order::deeper_prefix(std::string_view record, key_depth depth) const noexcept {
  std::uint64_t prefix = 0;
  std::size_t free_bits = 64;
  std::size_t skipped = depth.bytes;
  for (auto const& key : keys_) {
    if (skipped >= key.length_bytes) {
      skipped -= key.length_bytes;
      continue;
    }
    std::size_t const key_bits = 8 * std::min<std::size_t>(key.length_bytes - skipped, 8);
    std::uint64_t leading = leading_key(key, record.data(), skipped);
    if (key.reverse) leading ^= ~std::uint64_t{0} >> (64 - key_bits);
    if (key_bits >= free_bits) return prefix | leading >> (key_bits - free_bits);
    free_bits -= key_bits;
    prefix |= leading << free_bits;
    skipped = 0;
  }
  return prefix;
}

key_depth record_order::common_depth(std::string_view a, std::string_view b,
                                     key_depth depth) const noexcept {
  std::size_t begin = 0;  // of a key, among all bytes
  for (auto const& key : keys_) {
    std::size_t const end = begin + key.length_bytes;
    if (depth.bytes < end) {
      auto const key_a = a.substr(key.offset_bytes, key.length_bytes);
      auto const key_b = b.substr(key.offset_bytes, key.length_bytes);
      // Bytes of a number come in another order; equal ones are equal in any.
      std::size_t const common = key.type == kind::bytes ? detail::common_prefix_bytes(key_a, key_b)
                                 : key_a == key_b        ? end - begin
                                                         : 0;
      depth.bytes = std::max(depth.bytes, begin + common);
      if (common < key.length_bytes) return depth;
    }
    begin = end;
  }
  return depth;
}

int record_order::compare(std::string_view a, std::string_view b) const noexcept {
  for (auto const& key : keys_) {
    int const order = compare_key(key, a.data(), b.data());
    if (order != 0) return (order < 0) != key.reverse ? -1 : 1;
  }
  return 0;
}

bool record_order::equal_keys(std::string_view a, std::string_view b) const noexcept {
  return std::ranges::all_of(keys_, [&](record_key const& key) {
    return std::memcmp(a.data() + key.offset_bytes, b.data() + key.offset_bytes,
                       key.length_bytes) == 0;
  });
}

bool record_order::is_byte_order() const noexcept {
  record_key const& first = keys_.front();
  return first.type == kind::bytes && first.length_bytes == format_.item_bytes && !first.reverse;
}

}  // namespace outsize
