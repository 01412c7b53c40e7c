// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Recursion: the suffix array of a text by DC3, the difference cover. A text of two thirds of the
// length, whose letters are names of triples, sorts two suffixes of three. All are sorted then by
// at most two letters and a rank, on three paths that a merge joins.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/streams.hpp>

using namespace outsize::stream;
using outsize::by;
using number = std::uint64_t;
using numbers = outsize::vector<number>;
using triple = std::array<number, 3>;

/// A place of the text: its letter, and the rank of the suffix that begins there, or 0.
struct spot {
  number place, letter, rank;
};
/// Whether a suffix has a rank before all are sorted.
bool is_ranked(number place) { return place % 3 != 0; }

/// A suffix: the letters at its first places, and the ranks.
struct suffix {
  number place;
  triple letters, ranks;

  /// Compares letters, as far as the first place where both have ranks.
  bool operator<(suffix const& other) const {
    for (std::size_t i = 0;; ++i) {
      if (is_ranked(place + i) && is_ranked(other.place + i)) return ranks[i] < other.ranks[i];
      if (letters[i] != other.letters[i]) return letters[i] < other.letters[i];
    }
  }
};

/// Names triples in their order: 1, 2, …
struct naming {
  number& names;  // so far
  triple last = {};

  spot operator()(enumerated<triple> const& t) {
    if (names == 0 || t.item != last) ++names;
    last = t.item;
    return {t.index, 0, names};
  }
};

/// The letters of a text, and zeros at its end, where the empty suffix begins.
auto letters_of(numbers const& text) { return concat(from(text), from(std::vector<number>(3))); }

/// Returns the names of the triples at places 1, 4, 7, … and then those at 2, 5, 8, …
numbers names_of_triples(outsize::storage& store, numbers const& text, number& different) {
  auto const as_triple = [](std::span<number const> s) { return triple{s[0], s[1], s[2]}; };
  auto const has_rank = [](enumerated<triple> const& t) { return is_ranked(t.index); };
  auto const in_their_text = by([](spot const& s) { return std::pair(s.place % 3, s.place); });

  numbers names(store);
  run(store, letters_of(text) | window(3, as_triple) | enumerate() | filter(has_rank) |
                 sort(by(&enumerated<triple>::item)) | transform(naming{different}) |
                 sort(in_their_text) | choose(&spot::rank) | into(names));
  return names;
}

/// Returns the places where the suffixes of a text begin, in the order of the suffixes.
/// @pre its letters are above 0.
numbers suffix_array(outsize::storage& store, numbers text, int& levels) {
  ++levels;
  number different = 0;
  numbers names = names_of_triples(store, text, different);

  // Names that all differ are ranks. Else the suffixes of their text are sorted like it.
  bool const are_ranks = different == names.size();
  numbers const given =
      are_ranks ? std::move(names) : suffix_array(store, std::move(names), levels);
  auto const place_of = [ones = (text.size() + 2) / 3](number i) {
    return i < ones ? 3 * i + 1 : 3 * (i - ones) + 2;
  };
  auto const ranked = [=](enumerated<number> const& e) {
    return are_ranks ? spot{place_of(e.index), 0, e.item} : spot{place_of(e.item), 0, e.index + 1};
  };
  auto const with_rank = [](enumerated<number> const& letter, spot const* known) {
    return spot{letter.index, letter.item, known ? known->rank : 0};
  };
  auto const as_suffix = [](std::span<spot const> s) {
    return suffix{
        s[0].place, {s[0].letter, s[1].letter, s[2].letter}, {s[0].rank, s[1].rank, s[2].rank}};
  };
  auto const path = [](suffix const& s) { return s.place % 3; };

  numbers result(store);
  graph g(store, "level " + std::to_string(levels));
  auto ranks = from(given) | enumerate() | transform(ranked) | sort(by(&spot::place));
  auto spots = left_join(letters_of(text) | enumerate(), std::move(ranks),
                         &enumerated<number>::index, &spot::place, with_rank);
  auto [a, b, c] = g.route<3>(std::move(spots) | window(3, as_suffix), path);
  auto all = merge(a | sort(), b | sort(), c | sort());
  g.add(std::move(all) | drop(1) | choose(&suffix::place) | into(result));  // not the empty one
  g.run();
  return result;
}

int main() {
  using outsize::operator""_MiB;
  outsize::storage store({.memory_bytes = 16_MiB});
  std::string text;
  for (number x = 1; text.size() < 20'000; x = x * 6364136223846793005 + 1) text += "ACGT"[x >> 62];

  numbers letters(store);
  run(store, from(text) | transform([](char c) { return static_cast<number>(c); }) | into(letters));
  int levels = 0;
  auto const suffixes = suffix_array(store, std::move(letters), levels);

  auto const is_in_order = [&text](neighbours<number> const& n) {
    return std::string_view(text).substr(n.first) < std::string_view(text).substr(n.second);
  };
  auto const in_order = run(store, from(suffixes) | adjacent() | filter(is_in_order) | count());
  std::cout << in_order + 1 << " suffixes in order after " << levels << " levels of recursion\n";
}
