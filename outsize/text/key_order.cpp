// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The only place that ties options to comparisons; each of those has a file of its own.
#include <outsize/text/key_order.hpp>

#include <outsize/text/csv_field.hpp>
#include <outsize/text/decimal_key.hpp>
#include <outsize/text/general_key.hpp>
#include <outsize/text/month_key.hpp>
#include <outsize/text/version_key.hpp>

namespace outsize::text {
namespace {

int compare_filtered(std::string_view a, std::string_view b, byte_filter const& filter) noexcept {
  filtered_cursor left(a.data(), a.data() + a.size(), filter);
  filtered_cursor right(b.data(), b.data() + b.size(), filter);
  for (; !left.done() && !right.done(); left.next(), right.next()) {
    int const difference =
        static_cast<unsigned char>(left.value()) - static_cast<unsigned char>(right.value());
    if (difference != 0) return difference;
  }
  return int{right.done()} - int{left.done()};
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

int key_order::compare(std::string_view a, std::string_view b) const noexcept {
  if (!fields_.csv || covers_line_) return compare_found(find(a), find(b));
  std::string room_a, room_b;
  return compare_found(find_csv(a, room_a), find_csv(b, room_b));
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
  if (!fields_.csv || covers_line_) return code_found(find(line));
  std::string room;
  return code_found(find_csv(line, room));
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

}  // namespace outsize::text
