// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Inheritance of options happens once, in the constructor; after it there is a list of keys, and
// the bytes of the whole line behind it.
#include <outsize/text/line_order.hpp>

#include <algorithm>

namespace outsize::text {
namespace {

line_key inherited(line_key key, ordering const& global) noexcept {
  if (!key.inherits()) return key;
  key.order = global;
  key.skip_begin_blanks = global.blanks;
  key.skip_end_blanks = global.blanks;
  return key;
}

/// Where a depth in the one key of an order is among the keys of which that is number `key`.
key_depth among_keys(key_depth depth, std::size_t key) noexcept {
  return {.key = key + depth.key, .bytes = depth.bytes};
}

}  // namespace

std::vector<line_key> complete_keys(line_order_options const& options) {
  std::vector<line_key> keys;
  keys.reserve(options.keys.size());
  for (line_key const& key : options.keys) keys.push_back(inherited(key, options.global));
  return keys;
}

line_format with_fields(line_format format, line_order_options const& options) noexcept {
  if (!options.csv) return format;
  for (line_key const& key : options.keys)
    format.least_fields = std::max(format.least_fields, key.begin_field + 1);
  return format;
}

line_order::line_order(line_order_options options)
    : least_fields_(text::with_fields({}, options).least_fields),
      reversed_(options.global.reverse),
      compares_whole_lines_(!options.stable && !options.unique) {
  // Global options without keys make the whole line a key; `r` alone needs none.
  if (options.keys.empty() && !options.global.is_default()) options.keys.emplace_back();
  keys_.reserve(options.keys.size());
  for (line_key const& key : complete_keys(options)) {
    require_compatible(key.order);
    keys_.emplace_back(key, field_format{options.separator, options.csv}, options.salt);
  }
  if (keys_.empty()) compares_whole_lines_ = true;
}

line_format line_order::with_fields(line_format format) const noexcept {
  format.least_fields = std::max(format.least_fields, least_fields_);
  return format;
}

std::uint64_t line_order::prefix(std::string_view line) const noexcept {
  std::uint64_t prefix = 0;
  int filled = 0;
  for (key_order const& key : keys_) {
    auto const [code, bits] = key.code(line);
    if (bits == 64) return prefix | (code >> filled);
    prefix |= (code & ~(~std::uint64_t{0} >> bits)) >> filled;
    filled += bits;
    if (filled >= 64) return prefix;
  }
  if (!compares_whole_lines_) return prefix;
  return prefix | (whole_lines().prefix(line) >> filled);
}

int line_order::compare(std::string_view a, std::string_view b) const noexcept {
  int const order = compare_keys(a, b);
  if (order != 0 || !compares_whole_lines_) return order;
  return whole_lines().compare(a, b);
}

bool line_order::equal_keys(std::string_view a, std::string_view b) const noexcept {
  return keys_.empty() ? a == b : compare_keys(a, b) == 0;
}

int line_order::compare_keys(std::string_view a, std::string_view b) const noexcept {
  for (key_order const& key : keys_) {
    if (int const order = key.compare(a, b)) return order;
  }
  return 0;
}

/// Calls use(order) with the order of one key, or of what follows the last one.
template <typename Use>
auto line_order::with_key(std::size_t key, Use const& use) const noexcept {
  return key < keys_.size() ? use(keys_[key]) : use(whole_lines());
}

key_depth line_order::prefix_depth(std::uint64_t prefix) const noexcept {
  return with_key(0, [&](auto const& first) { return first.prefix_depth(prefix); });
}

std::uint64_t line_order::deeper_prefix(std::string_view line, key_depth depth) const noexcept {
  return with_key(depth.key,
                  [&](auto const& key) { return key.deeper_prefix(line, {.bytes = depth.bytes}); });
}

key_depth line_order::deeper_depth(std::uint64_t deeper, key_depth depth) const noexcept {
  return with_key(depth.key, [&](auto const& key) {
    return among_keys(key.deeper_depth(deeper, {.bytes = depth.bytes}), depth.key);
  });
}

key_depth line_order::common_depth(std::string_view a, std::string_view b,
                                   key_depth depth) const noexcept {
  while (!is_whole_key(depth)) {
    auto const found = with_key(
        depth.key, [&](auto const& key) { return key.common_depth(a, b, {.bytes = depth.bytes}); });
    if (found.key == 0) return among_keys(found, depth.key);
    depth = {.key = depth.key + 1};
  }
  return depth;
}

}  // namespace outsize::text
