// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The order of text lines as GNU sort 9.1 defines it in the C locale: keys one after the other,
// then the bytes of the whole line. Layer: text. Lines come without their terminator, need no
// terminating NUL and may hold any byte. Immutable after construction, and free of allocation
// except for long values of CSV with quotes inside, so every method may be called from any number
// of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/deepening_order.hpp>
#include <outsize/record/csv_scanner.hpp>
#include <outsize/record/record_reader.hpp>
#include <outsize/text/key_order.hpp>
#include <outsize/text/line_key.hpp>
#include <outsize/text/ordering.hpp>

namespace outsize::text {

/// What the options of sort say about the order.
struct line_order_options {
  std::optional<char> separator = {};  ///< -t: ends a field; none: fields begin where blanks do.
  std::vector<line_key> keys = {};     ///< -k, most significant first; none: the whole line.
  ordering global = {};   ///< For keys without options of their own; `reverse` also for the
                          ///< comparison of whole lines that have equal keys.
  bool stable = false;    ///< -s: lines with equal keys are equal.
  bool unique = false;    ///< -u: the same.
  random_salt salt = {};  ///< --random-source: what decides the order of keys with R.
  /// Lines are records of CSV: each key is a part of the value of one field (csv_field.hpp), and
  /// has been made so by one_field_key. `separator` has no meaning then.
  std::optional<csv_format> csv = {};
};

/// The keys with what they inherit from the global options.
std::vector<line_key> complete_keys(line_order_options const& options);

/// Returns the format of what is to be compared so: records of CSV that end in front of a key are
/// refused. Empty ones are not; the values of their keys are empty.
line_format with_fields(line_format format, line_order_options const& options) noexcept;

/// A total preorder of lines.
class line_order {
 public:
  /// Throws std::invalid_argument ("options '-Mn' are incompatible") when a key, after inheriting
  /// the global options, has letters that exclude each other.
  explicit line_order(line_order_options options);

  /// Returns a code such that prefix(a) < prefix(b) implies compare(a, b) < 0; equal codes decide
  /// nothing. Reads no more of the line than the code depends on.
  std::uint64_t prefix(std::string_view line) const noexcept;

  /// Returns <0, 0 or >0 as `a` comes before, with or behind `b`.
  int compare(std::string_view a, std::string_view b) const noexcept;

  /// Returns whether -u keeps only one of `a` and `b`.
  bool equal_keys(std::string_view a, std::string_view b) const noexcept;
  /// Returns whether lines that compare equal have the same bytes.
  bool equals_are_alike() const noexcept { return compares_whole_lines_; }

  // A deepening_order: the keys, and then the line, if that is compared. Each look finds one key.

  key_depth prefix_depth(std::uint64_t prefix) const noexcept;
  std::uint64_t deeper_prefix(std::string_view line, key_depth depth) const noexcept;
  key_depth deeper_depth(std::uint64_t deeper, key_depth depth) const noexcept;
  key_depth common_depth(std::string_view a, std::string_view b, key_depth depth) const noexcept;
  bool is_whole_key(key_depth depth) const noexcept {
    return depth.key >= keys_.size() + (compares_whole_lines_ ? 1 : 0);
  }
  static constexpr std::size_t most_looks = 16;

  /// Returns whether lines simply compare as byte strings, in the direction of is_reversed().
  bool is_byte_order() const noexcept { return keys_.empty(); }

  /// Returns the format of what is to be in this order; see with_fields above.
  line_format with_fields(line_format format) const noexcept;

  /// Returns whether whole lines compare in descending order.
  bool is_reversed() const noexcept { return reversed_; }

 private:
  int compare_keys(std::string_view a, std::string_view b) const noexcept;
  byte_order whole_lines() const noexcept { return {.descending = reversed_}; }
  template <typename Use>
  auto with_key(std::size_t key, Use const& use) const noexcept;

  std::vector<key_order> keys_;
  std::size_t least_fields_;
  bool reversed_;
  bool compares_whole_lines_;  // when all keys are equal
};

/// Calls use(order), with the plain byte_order where lines simply compare as bytes: it is faster.
template <typename F>
auto with_plain_order(line_order const& order, F const& use) {
  if (order.is_byte_order()) return use(byte_order{order.is_reversed()});
  return use(order);
}

}  // namespace outsize::text
