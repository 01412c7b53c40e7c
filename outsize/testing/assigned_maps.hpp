// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Statements that read a value of a map through a reference while they insert another key, done to
// a map of ours and to the standard library's alike. Layer: testing.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>

namespace outsize::scratch {

/// Long enough that assignment reads it through the reference, when the left side has inserted.
struct three_words {
  std::uint64_t a = 0, b = 0, c = 0;
  friend bool operator==(three_words const&, three_words const&) = default;
};

inline three_words mixture(three_words const& x, three_words const& y) {
  return {x.a + y.a, x.b - y.b, x.c ^ y.c};
}

/// Does one statement to a map with keys below `keys`; returns the key that it assigned.
template <typename Map>
std::uint64_t assign_somehow(Map& m, std::uint64_t keys, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uint64_t const way = random() % 12, k = random() % keys;
  std::uint64_t const x = random() % keys, y = random() % keys;
  switch (way) {
    case 0:
      m[k] = m[x];
      break;
    case 1:
      m[k] = m[x] = m[y];
      break;
    case 2:
      m[k] = mixture(m[x], m[y]);
      break;
    case 3:
      m[k] = three_words{seed, k, x};
      break;
    case 4:
      m.insert({k, {}}).first->second = m[x];
      break;
    case 5:
      m.try_emplace(k, m[x]);
      break;
    case 6:
      m.emplace(k, m[x]);
      break;
    case 7:
      m.insert_or_assign(k, m[x]);
      break;
    case 8:
      m.insert({k, m[x]});
      break;
    case 9:
      if (m.contains(x)) m[k] = m.at(x);
      break;
    case 10:
      if (m.contains(x)) m[k] = m.find(x)->second;
      break;
    case 11:
      if (m.contains(k) && m.contains(x)) std::swap(m[k], m[x]);
      break;
  }
  if (random() % 4 == 0) m.erase(y);
  return k;
}

/// Fills `ours` from the last key on, each value that of the key before; then assigns here and
/// there.
template <typename Ours>
void check_assignments(Ours& ours, int steps) {
  static constexpr std::uint64_t filled = 1000;
  std::map<std::uint64_t, three_words> model;
  auto const fill = [](auto& m) {
    m[filled] = three_words{1, 2, 3};
    for (std::uint64_t key = filled; key-- > 0;) {
      m[key] = m[key + 1];
      m[key].a += key % 3;
    }
  };
  fill(ours);
  fill(model);
  for (auto const& [key, value] : model) ASSERT_EQ(std::as_const(ours).at(key), value) << key;

  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (int step = 0; step < steps; ++step) {
    if (step % 1000 == 0) {
      ours.clear();
      model.clear();
    }
    std::uint64_t const keys = step % 2000 < 1000 ? 60 : 1500;
    auto const now = seed + static_cast<std::uint64_t>(step);
    auto const key = assign_somehow(ours, keys, now);
    ASSERT_EQ(assign_somehow(model, keys, now), key);
    ASSERT_EQ(ours.size(), model.size());
    if (model.contains(key)) {
      ASSERT_EQ(std::as_const(ours).at(key), model.at(key)) << step;
    }
  }
  for (auto const& [key, value] : model) ASSERT_EQ(std::as_const(ours).at(key), value) << key;
}

}  // namespace outsize::scratch
