// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What an order of byte strings may offer beside record_ordering (record_sorter.hpp): to look
// further into records whose prefixes are alike, key after key, some bytes of it at a time.
//
//   record, keys 2 and 1:    | 2 0 | s t o r e s / n o r t h / ... |
//   {.key = 0, .bytes = 8}                       ^ alike up to here, in key 2, which comes first
//   {.key = 1, .bytes = 0}     ^ alike in all of key 2, and nothing is known of key 1
//
// Values, safe from any thread. Layer: kernel.

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outsize {

/// How far records are known to be alike: in all keys in front of `key`, most significant first,
/// and in the first bytes of that one. What a key and its bytes are is the order's own matter.
struct key_depth {
  std::size_t key = 0;
  std::size_t bytes = 0;

  friend constexpr auto operator<=>(key_depth const&, key_depth const&) = default;
};

/// Orders that look further. Of records that are alike to some depth, deeper_prefix() is a further
/// prefix: deeper_prefix(a, depth) < deeper_prefix(b, depth) implies that a comes before b. Records
/// whose words are equal are alike to prefix_depth(word), if it is their first prefix, or to
/// deeper_depth(word, depth); that is the depth itself where an equal word says nothing.
/// common_depth(a, b, depth), not less than `depth`, is what a look at all of both says; and
/// records are equal if they are alike to a depth that is_whole_key().
///
/// Finding a key may cost as much as reading the record: after `most_looks` further prefixes
/// records are compared instead, so that looking never takes much more than comparing.
template <typename O>
concept deepening_order =
    requires(O const order, std::string_view r, std::uint64_t word, key_depth depth) {
      { order.prefix_depth(word) } -> std::same_as<key_depth>;
      { order.deeper_prefix(r, depth) } -> std::same_as<std::uint64_t>;
      { order.deeper_depth(word, depth) } -> std::same_as<key_depth>;
      { order.common_depth(r, r, depth) } -> std::same_as<key_depth>;
      { order.is_whole_key(depth) } -> std::same_as<bool>;
      { O::most_looks } -> std::convertible_to<std::size_t>;
    };

}  // namespace outsize
