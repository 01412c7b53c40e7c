// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The only place that ties options to comparisons; each of those has a file of its own.
#include <outsize/text/key_order.hpp>

#include <array>
#include <cstddef>

#include <outsize/text/csv_field.hpp>
#include <outsize/text/detail/decimal_key.hpp>
#include <outsize/text/detail/general_key.hpp>
#include <outsize/text/detail/month_key.hpp>
#include <outsize/text/detail/version_key.hpp>

namespace outsize::text {
namespace {

filtered_cursor filtered(std::string_view text, byte_filter const& filter) noexcept {
  return {text.data(), text.data() + text.size(), filter};
}

/// Moves both to where they differ or one of them ends; returns how many bytes were alike.
std::size_t skip_common(filtered_cursor& left, filtered_cursor& right) noexcept {
  std::size_t count = 0;
  for (; !left.done() && !right.done() && left.value() == right.value(); ++count) {
    left.next();
    right.next();
  }
  return count;
}

int compare_filtered(std::string_view a, std::string_view b, byte_filter const& filter) noexcept {
  auto left = filtered(a, filter), right = filtered(b, filter);
  skip_common(left, right);
  if (left.done() || right.done()) return int{right.done()} - int{left.done()};
  return static_cast<unsigned char>(left.value()) - static_cast<unsigned char>(right.value());
}

}  // namespace

key_order::key_order(line_key const& key, field_format const& fields,
                     random_salt const& salt) noexcept
    : key_(key),
      fields_(fields),
      kind_(kind_of(key.order)),
      filter_(filter_of(key.order)),
      salt_(salt),
      covers_line_(key.begin_field == 0 && key.begin_char == 0 && !key.skip_begin_blanks &&
                   key.end_field == line_key::to_end_of_line) {}

key_order::kind key_order::kind_of(ordering const& order) noexcept {
  if (order.numeric) return kind::decimal;
  if (order.human) return kind::human;
  if (order.general) return kind::general;
  if (order.month) return kind::month;
  if (order.random) return kind::random;
  if (order.version) return kind::version;
  return filter_of(order) != nullptr ? kind::filtered : kind::bytes;
}

std::string_view key_order::find(std::string_view line) const noexcept {
  return covers_line_ ? line : key_span(line, key_, fields_.separator);
}

std::string_view key_order::find_csv(std::string_view line, std::string& room) const {
  return key_part(csv_field(line, key_.begin_field, *fields_.csv, room), key_);
}

template <typename Use>
auto key_order::with_key(std::string_view line, Use const& use) const noexcept {
  if (!fields_.csv || covers_line_) return use(find(line));
  std::string room;
  return use(find_csv(line, room));
}

int key_order::compare(std::string_view a, std::string_view b) const noexcept {
  return with_key(a, [&](std::string_view key_a) {
    return with_key(b, [&](std::string_view key_b) { return compare_found(key_a, key_b); });
  });
}

int key_order::compare_found(std::string_view a, std::string_view b) const noexcept {
  return key_.order.reverse ? compare_ascending(b, a) : compare_ascending(a, b);
}

int key_order::compare_ascending(std::string_view a, std::string_view b) const noexcept {
  switch (kind_) {
    case kind::bytes:
      return a.compare(b);
    case kind::filtered:
      return compare_filtered(a, b, *filter_);
    case kind::decimal:
      return compare_decimal(a, b);
    case kind::human:
      return compare_human(a, b, key_.order.fold);
    case kind::general:
      return compare_general(a, b);
    case kind::month:
      return month_of(a) - month_of(b);
    case kind::random:
      return compare_random(a, b);
    case kind::version:
      return compare_version(a, b, filter_);
  }
  return 0;
}

int key_order::compare_text(std::string_view a, std::string_view b) const noexcept {
  return filter_ == nullptr ? a.compare(b) : compare_filtered(a, b, *filter_);
}

detail::md5::digest key_order::random_digest(std::string_view text) const noexcept {
  if (filter_ == nullptr) return salt_.digest(text);
  detail::md5 digest = salt_.begin_digest();
  filtered_cursor bytes(text.data(), text.data() + text.size(), *filter_);
  for (; !bytes.done(); bytes.next()) {
    char const byte = bytes.value();
    digest.add({&byte, 1});
  }
  return digest.finish();
}

int key_order::compare_random(std::string_view a, std::string_view b) const noexcept {
  int const by_text = compare_text(a, b);
  if (by_text == 0) return 0;
  auto const order = random_digest(a) <=> random_digest(b);
  return order == 0 ? by_text : order < 0 ? -1 : 1;
}

key_code key_order::code(std::string_view line) const noexcept {
  return with_key(line, [&](std::string_view key) { return code_found(key); });
}

key_code key_order::code_found(std::string_view text) const noexcept {
  key_code result = ascending_code(text);
  if (key_.order.reverse) result.code = ~result.code;
  return result;
}

key_code key_order::ascending_code(std::string_view text) const noexcept {
  switch (kind_) {
    case kind::bytes:
    case kind::filtered:
      return terminated_prefix(text, filter_);
    case kind::decimal:
      return {decimal_prefix(text), 64};
    case kind::human:
      return {human_prefix(text, key_.order.fold), 64};
    case kind::general:
      return {general_prefix(text), 64};
    case kind::month:
      return {static_cast<std::uint64_t>(month_of(text)) << 60, 4};
    case kind::random:
      return {random_digest(text).high, 64};
    case kind::version:
      return {version_prefix(text, filter_), 64};
  }
  return {};
}

key_depth key_order::prefix_depth(std::uint64_t code) const noexcept {
  if (!is_text()) return {};
  return {.bytes = bytes_before_zero(key_.order.reverse ? ~code : code)};
}

std::uint64_t key_order::deeper_prefix(std::string_view line, key_depth depth) const noexcept {
  return with_key(line, [&](std::string_view key) {
    switch (kind_) {
      case kind::bytes:
        return bytes().deeper_prefix(key, depth);
      case kind::filtered:
        return filtered_prefix(key, depth);
      default:
        return code_found(key).code;
    }
  });
}

std::uint64_t key_order::filtered_prefix(std::string_view text, key_depth depth) const noexcept {
  auto at = filtered(text, *filter_);
  for (std::size_t i = 0; i < depth.bytes; ++i) at.next();
  std::array<char, sizeof(std::uint64_t)> next;
  std::size_t count = 0;
  for (; count < next.size() && !at.done(); at.next()) next[count++] = at.value();
  return bytes().deeper_prefix({next.data(), count}, {});
}

key_depth key_order::deeper_depth(std::uint64_t deeper, key_depth depth) const noexcept {
  return is_text() ? bytes().deeper_depth(deeper, depth) : depth;
}

key_depth key_order::common_depth(std::string_view a, std::string_view b,
                                  key_depth depth) const noexcept {
  return with_key(a, [&](std::string_view key_a) {
    return with_key(b, [&](std::string_view key_b) {
      if (kind_ == kind::bytes) return byte_order::common_depth(key_a, key_b, depth);
      if (kind_ == kind::filtered) return common_filtered(key_a, key_b);
      return compare_found(key_a, key_b) == 0 ? key_depth{.key = 1} : depth;
    });
  });
}

key_depth key_order::common_filtered(std::string_view a, std::string_view b) const noexcept {
  auto left = filtered(a, *filter_), right = filtered(b, *filter_);
  std::size_t const common = skip_common(left, right);
  bool const are_equal = left.done() && right.done();
  return are_equal ? key_depth{.key = 1} : key_depth{.bytes = common};
}

}  // namespace outsize::text
