// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What happens to a kept container, step by step: the same for the container, in the process that
// is killed, and for a model of the standard library, in the one that looks what is left. A step
// depends on a seed and its number alone, and the container says how many it has seen.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::crash {

/// A storage that leaves nothing behind: kept containers lie in files of their own.
inline storage_options without_disks() {
  return {
      .disks = {disk_options(
          "none", [](io::request_queue&) -> io::file_ptr { return io::make_memory_file("none"); })},
      .memory = 4_MiB,
      .threads = 1};
}

/// Inserts many items and erases many keys, from 1 to `keys`, in a batch each; in a model, which
/// has none, one by one.
template <typename Map>
void change_many(Map& changed, std::mt19937_64& random, std::uint64_t keys) {
  std::vector<map_item<std::uint64_t, std::uint64_t>> inserted(random() % 500);
  for (auto& [key, value] : inserted) {
    key = 1 + random() % keys;
    value = random();
  }
  std::vector<std::uint64_t> erased(random() % 500);
  for (std::uint64_t& key : erased) key = 1 + random() % keys;
  if constexpr (requires { changed.insert_many(inserted), changed.erase_many(erased); }) {
    changed.insert_many(inserted);
    changed.erase_many(erased);
  } else {
    for (auto const& [key, value] : inserted) changed.emplace(key, value);
    for (std::uint64_t const key : erased) changed.erase(key);
  }
}

/// Of a map, whose key 0 has the number of steps. Its cache is so small that pages leave in all
/// steps.
struct map_history {
  using kept = outsize::map<std::uint64_t, std::uint64_t>;
  using model = std::map<std::uint64_t, std::uint64_t>;
  static constexpr char const* name = "map";

  static kept create(std::string const& path, storage& store) {
    return kept::create(path, store, tiny());
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    return kept::open(path, store, mode, tiny());
  }
  static std::uint64_t steps(kept const& found) { return found.get(0).value_or(0); }
  static bool same(kept const& found, model const& expected) {
    return std::ranges::equal(found, expected, [](auto const& a, auto const& b) {
      return a.first == b.first && a.second == b.second;
    });
  }

  template <typename Map>
  static void step(Map& changed, std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    if (random() % 16 == 0) changed.clear();
    if (random() % 4 == 0) change_many(changed, random, 20'000);
    for (std::uint64_t i = random() % 500; i > 0; --i) {
      std::uint64_t const key = 1 + random() % 20'000;
      if (random() % 4 == 0)
        changed.erase(changed.lower_bound(key), changed.lower_bound(key + 40));
      else
        changed[key] = random();
    }
    changed[0] = number;
  }

 private:
  static map_options tiny() {
    return {.leaf_bytes = 512,
            .node_bytes = 512,
            .leaf_cache_bytes = 1,
            .node_cache_bytes = 1,
            .spare_leaves = 2};
  }
};

/// Of an unordered_map, whose key 0 has the number of steps. Buckets are divided, united and begun
/// with anew; oblivious operations are done when their little memory is full, or by flush() alone.
struct unordered_map_history {
  using kept = outsize::unordered_map<std::uint64_t, std::uint64_t>;
  using model = std::unordered_map<std::uint64_t, std::uint64_t>;
  static constexpr char const* name = "unordered_map";

  static kept create(std::string const& path, storage& store) {
    return kept::create(path, store, tiny());
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    return kept::open(path, store, mode, tiny());
  }
  static std::uint64_t steps(kept const& found) { return found.get(0).value_or(0); }
  static bool same(kept const& found, model const& expected) {
    return found.size() == expected.size() &&
           std::ranges::all_of(expected,
                               [&](auto const& e) { return found.get(e.first) == e.second; }) &&
           content(found) == expected;
  }

  template <typename Map>
  static void step(Map& changed, std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    auto const kind = random() % 32;
    if (kind == 0) changed.clear();
    if (kind == 1) replace(changed, random);
    if (kind == 2) changed.reserve(random() % 2000);
    if (kind >= 24) change_many(changed, random, 1500);
    for (std::uint64_t i = random() % 200; i > 0; --i) {
      std::uint64_t const key = 1 + random() % 1500, value = random();
      auto const action = random() % 8;
      if (action < 2)
        changed[key] = value;
      else if (action < 4)
        changed.erase(key);
      else if (action < 6)
        put(changed, key, value);
      else
        take(changed, key);
    }
    if (kind % 4 == 3) shrink(changed);
    if (kind % 2 == 0)
      changed[0] = number;
    else
      put(changed, 0, number);
  }

 private:
  static unordered_map_options tiny() {
    return {.page_bytes = 512, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 4096};
  }
  static model content(kept const& found) {
    model items;
    for (auto const& [key, value] : found) items.emplace(key, value);
    return items;
  }

  // What the model does in another way.
  static void put(kept& changed, std::uint64_t key, std::uint64_t value) {
    changed.insert_oblivious({key, value});
  }
  static void put(model& changed, std::uint64_t key, std::uint64_t value) { changed[key] = value; }
  static void take(kept& changed, std::uint64_t key) { changed.erase_oblivious(key); }
  static void take(model& changed, std::uint64_t key) { changed.erase(key); }
  static void shrink(kept& changed) { changed.shrink_to_fit(); }
  static void shrink(model&) {}

  /// Builds it from items some of which have the same key.
  template <typename Map>
  static void replace(Map& changed, std::mt19937_64& random) {
    std::vector<map_item<std::uint64_t, std::uint64_t>> items(random() % 1000);
    for (auto& [key, value] : items) {
      key = 1 + random() % 1500;
      value = random();
    }
    if constexpr (std::is_same_v<Map, kept>) {
      changed.build(items);
    } else {
      changed.clear();
      for (auto const& [key, value] : items) changed.emplace(key, value);
    }
  }
};

/// Of a vector, whose item 0 has the number of steps.
struct vector_history {
  using kept = outsize::vector<std::uint64_t>;
  using model = std::vector<std::uint64_t>;
  static constexpr char const* name = "vector";

  static kept create(std::string const& path, storage& store) {
    return kept::create_kept(path, store, tiny());
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    return kept::open_kept(path, store, mode, tiny());
  }
  static std::uint64_t steps(kept const& found) { return found.empty() ? 0 : found.front(); }
  static bool same(kept const& found, model const& expected) {
    return std::ranges::equal(found, expected);
  }

  template <typename Vector>
  static void step(Vector& changed, std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    if (random() % 4 == 0 && !changed.empty()) changed.resize(random() % changed.size());
    for (std::uint64_t i = 1 + random() % 3000; i > 0; --i) changed.push_back(random());
    for (std::uint64_t i = random() % 200; i > 0; --i) changed[random() % changed.size()] = i;
    changed[0] = number;
  }

 private:
  static vector_options tiny() {
    return {.page_bytes = 512, .cache_pages = 4, .spare_pages = 2, .read_ahead_pages = 1};
  }
};

}  // namespace outsize::crash
