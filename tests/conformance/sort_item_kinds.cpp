// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Items of several fields: small and large ones by a word, and by a comparator of one's own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <tuple>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <tests/conformance/typed_kind.hpp>

namespace outsize::conformance {
namespace {

struct add_values {
  template <typename T>
  T operator()(T a, T const& b) const {
    a.values.front() += b.values.front();
    return a;
  }
};

struct pair {
  std::uint64_t key;
  std::array<std::uint64_t, 1> values;
};

/// Two words by the first; in input order, the second is the place.
kind pairs() {
  return typed_kind<pair>("pairs", by(&pair::key), add_values(),
                          [](std::mt19937_64& random, std::size_t i) {
                            return pair{random() % 3000, {i}};
                          });
}

/// `Bytes` with a key of floating point.
template <std::size_t Bytes>
struct wide {
  std::array<std::uint64_t, Bytes / 8 - 1> values;
  double key;
};

/// By the key, greatest first: of up to 64 bytes by digits of its word, and of more by an index.
template <std::size_t Bytes>
kind by_word(char const* name) {
  using item = wide<Bytes>;
  return typed_kind<item>(name, by(&item::key, std::greater<>()), add_values(),
                          [](std::mt19937_64& random, std::size_t i) {
                            item made{{}, static_cast<double>(random() % 5000) / 8 - 300.0625};
                            made.values.fill(i);
                            return made;
                          });
}

/// `Bytes` with several fields that count.
template <std::size_t Bytes>
struct event {
  std::int32_t day;
  std::uint16_t hour;
  std::array<char, 2> place;
  std::array<std::uint64_t, Bytes / 8 - 1> values;
};

/// By a lambda that has something with it, and several fields: of up to 32 bytes by merges, and of
/// more in place and by a tree of losers.
template <std::size_t Bytes>
kind by_lambda(char const* name) {
  using item = event<Bytes>;
  std::array<int, 24> const shifts{2, 0, 1};  // what comes first in a day
  auto const less = [shifts](item const& a, item const& b) {
    int const shift_a = shifts[a.hour % 24U], shift_b = shifts[b.hour % 24U];
    return std::tie(b.day, shift_a, a.place) < std::tie(a.day, shift_b, b.place);
  };
  return typed_kind<item>(name, less, add_values(), [](std::mt19937_64& random, std::size_t i) {
    item made{static_cast<std::int32_t>(random() % 300) - 150,
              static_cast<std::uint16_t>(random() % 3),
              {static_cast<char>('a' + random() % 4), 'x'},
              {}};
    made.values.fill(i);
    return made;
  });
}

}  // namespace

void add_item_kinds(std::vector<kind>& kinds) {
  kinds.push_back(pairs());
  kinds.push_back(by_word<24>("by_word_24_bytes"));
  kinds.push_back(by_word<104>("by_word_104_bytes"));
  kinds.push_back(by_lambda<16>("by_lambda_16_bytes"));
  kinds.push_back(by_lambda<32>("by_lambda_32_bytes"));
  kinds.push_back(by_lambda<56>("by_lambda_56_bytes"));
}

}  // namespace outsize::conformance
