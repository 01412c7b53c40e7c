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
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
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
