// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What happens to a kept container, step by step: the same for the container, in the process that
// is killed, and for a model of the standard library, in the one that looks what is left. A step
// depends on a seed and its number alone, and the container says how many it has seen. Items are
// long, so that there are dozens or hundreds of pages, and trees have several levels of nodes.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::crash {

/// A storage that leaves nothing behind: kept containers lie in files of their own.
inline storage_options without_disks() {
  return {
      .disks = {disk_options(
          "none", [](io::request_queue&) -> io::file_ptr { return io::make_memory_file("none"); })},
      .memory_bytes = 4_MiB,
      .threads = 1};
}

/// A number with so much behind it that a page of direct I/O holds 15 of them.
struct long_number {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 31> copies = {};

  long_number() = default;
  long_number(std::uint64_t value) : number(value) { copies.fill(value); }
  friend bool operator==(long_number const&, long_number const&) = default;
  friend auto operator<=>(long_number const&, long_number const&) = default;
};

/// The key of an entry of a map, or an entry that is one.
template <typename Entry>
auto& key_of(Entry& entry) {
  if constexpr (requires { entry.first; })
    return entry.first;
  else
    return entry;
}

/// An entry with a key from 1 to `keys`: of a map, or a key.
template <typename Entry>
Entry random_entry(std::mt19937_64& random, std::uint64_t keys) {
  std::uint64_t const key = 1 + random() % keys;
  if constexpr (requires { Entry(key, key); })
    return {key, random()};
  else
    return key;
}
template <typename Entry>
std::vector<Entry> random_entries(std::mt19937_64& random, std::uint64_t count,
                                  std::uint64_t keys) {
  std::vector<Entry> entries(count);
  for (Entry& entry : entries) entry = random_entry<Entry>(random, keys);
  return entries;
}

/// Into a container or a model.
template <typename Changed, typename Key, typename Value>
void add(Changed& changed, map_item<Key, Value> const& entry) {
  changed.emplace(entry.first, entry.second);
}
template <typename Changed, typename Key>
void add(Changed& changed, Key const& key) {
  changed.insert(key);
}

/// Inserts many entries and erases many keys, from 1 to `keys`, in a batch each; in a model, which
/// has none, one by one.
template <typename Entry, typename Changed>
void change_many(Changed& changed, std::mt19937_64& random, std::uint64_t keys) {
  auto const inserted = random_entries<Entry>(random, random() % 100, keys);
  std::vector<typename Changed::key_type> erased(random() % 100);
  for (auto& key : erased) key = 1 + random() % keys;
  if constexpr (requires { changed.insert_many(inserted), changed.erase_many(erased); }) {
    changed.insert_many(inserted);
    changed.erase_many(erased);
  } else {
    for (Entry const& entry : inserted) add(changed, entry);
    for (auto const& key : erased) changed.erase(key);
  }
}

/// Replaces all by at most so many entries, with keys from 1 to `keys`, in any order or sorted.
template <typename Entry, typename Changed>
void build(Changed& changed, std::mt19937_64& random, std::uint64_t most, std::uint64_t keys) {
  auto entries = random_entries<Entry>(random, random() % most, keys);
  bool const is_sorted = random() % 2 == 0;
  if (is_sorted)
    std::ranges::stable_sort(entries, {}, [](auto const& entry) { return key_of(entry); });
  if constexpr (requires { changed.build(entries); }) {
    if constexpr (requires { changed.build_sorted(entries); })
      if (is_sorted) return changed.build_sorted(entries, 0.7);
    changed.build(entries);
  } else {
    changed.clear();
    for (Entry const& entry : entries) add(changed, entry);
  }
}

/// Of a map or set, whose greatest key tells the number of steps: it is so many more than `keys`.
/// Its cache is so small that pages leave in all steps.
template <typename Kept, typename Model>
struct tree_history {
  using kept = Kept;
  using model = Model;
  using entry = typename Kept::value_type;

  static kept create(std::string const& path, storage& store) {
    return kept::create(path, store, tiny());
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    return kept::open(path, store, mode, tiny());
  }
  static std::uint64_t steps(kept const& found) {
    if (found.empty()) return 0;
    entry const last = *found.rbegin();
    return key_of(last).number - keys;
  }
  static bool same(kept const& found, model const& expected) {
    return std::ranges::equal(found, expected, [](entry const& a, auto const& b) {
      if constexpr (requires { b.second; })
        return a.first == b.first && a.second == b.second;
      else
        return a == b;
    });
  }

  template <typename Changed>
  static void step(Changed& changed, std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    auto const kind = random() % 32;
    if (kind == 0) changed.clear();
    if (kind >= 1 && kind < 6) build<entry>(changed, random, 5000, keys);
    if (kind >= 24) change_many<entry>(changed, random, keys);
    for (std::uint64_t i = random() % 50; i > 0; --i) change_one(changed, random);
    changed.erase(changed.lower_bound(keys + 1), changed.end());
    auto last = random_entry<entry>(random, keys);
    key_of(last) = keys + number;
    add(changed, last);
  }

 private:
  static constexpr std::uint64_t keys = 20'000;

  static map_options tiny() {
    return {.leaf_bytes = 512,
            .node_bytes = 512,
            .leaf_cache_bytes = 1,
            .node_cache_bytes = 1,
            .spare_leaves = 2};
  }
  template <typename Changed>
  static void change_one(Changed& changed, std::mt19937_64& random) {
    auto const changing = random_entry<entry>(random, keys);
    std::uint64_t const key = key_of(changing).number;
    auto const action = random() % 16;
    if (action == 0)
      changed.erase(changed.lower_bound(key), changed.lower_bound(key + 200));
    else if (action == 1)
      changed.erase(long_number(key));
    else if constexpr (requires { changed[key] = changing.second; })
      changed[key] = changing.second;
    else
      add(changed, changing);
  }
};

struct map_history
    : tree_history<map<long_number, std::uint64_t>, std::map<long_number, std::uint64_t>> {
  static constexpr char const* name = "map";
};
struct multimap_history : tree_history<multimap<long_number, std::uint64_t>,
                                       std::multimap<long_number, std::uint64_t>> {
  static constexpr char const* name = "multimap";
};
struct set_history : tree_history<set<long_number>, std::set<long_number>> {
  static constexpr char const* name = "set";
};
struct multiset_history : tree_history<multiset<long_number>, std::multiset<long_number>> {
  static constexpr char const* name = "multiset";
};

/// Of an unordered_map, whose key 0 has the number of steps. Buckets are divided, united and begun
/// with anew; oblivious operations are done when their little memory is full, or by flush() alone.
struct unordered_map_history {
  using kept = outsize::unordered_map<std::uint64_t, long_number>;
  using model = std::unordered_map<std::uint64_t, long_number>;
  static constexpr char const* name = "unordered_map";

  static kept create(std::string const& path, storage& store) {
    return kept::create(path, store, tiny());
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    return kept::open(path, store, mode, tiny());
  }
  static std::uint64_t steps(kept const& found) { return found.get(0).value_or(0).number; }
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
    if (kind == 1 || kind == 2) build<kept::value_type>(changed, random, 2000, keys);
    if (kind == 3) changed.reserve(random() % 2000);
    if (kind >= 24) change_many<kept::value_type>(changed, random, keys);
    for (std::uint64_t i = random() % 50; i > 0; --i) {
      std::uint64_t const key = 1 + random() % keys, value = random();
      auto const action = random() % 8;
      if (action < 2)
        changed[key] = value;
      else if (action < 3)
        changed.erase(key);
      else if (action < 6)
        put(changed, key, value);
      else
        take(changed, key);
    }
    if (kind % 8 == 7) shrink(changed);
    if (kind % 2 == 0)
      changed[0] = number;
    else
      put(changed, 0, number);
  }

 private:
  static constexpr std::uint64_t keys = 3000;

  static unordered_map_options tiny() {
    return {.page_bytes = 512, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 16384};
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
};

/// A priority queue, whose top is the number of steps and `keys`.
struct priority_queue_history {
  using queue = outsize::priority_queue<long_number>;
  using model = std::priority_queue<long_number>;
  static constexpr char const* name = "priority_queue";

  /// A queue that is open to be looked at is one in a copy of the file.
  class kept {
   public:
    kept(queue from, std::string copy) : queue_(std::move(from)), copy_(std::move(copy)) {}
    kept(kept&&) = default;
    ~kept() {
      if (!copy_.empty()) std::filesystem::remove(copy_);
    }

    bool empty() const { return queue_.empty(); }
    std::size_t size() const { return queue_.size(); }
    bool was_closed() const { return queue_.was_closed(); }
    long_number const& top() const { return queue_.top(); }
    void push(long_number const& item) { queue_.push(item); }
    void pop() const { queue_.pop(); }
    void flush() { queue_.flush(); }
    void close() { queue_.close(); }

   private:
    mutable queue queue_;
    std::string copy_;  // "": none
  };

  static kept create(std::string const& path, storage& store) {
    return {queue::create(path, store, tiny()), ""};
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    if (mode == io::access::read_write) return {queue::open(path, store, tiny()), ""};
    std::string const copy = path + ".copy";
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    return {queue::open(copy, store, tiny()), copy};
  }
  static std::uint64_t steps(kept const& found) {
    return found.empty() ? 0 : found.top().number - keys;
  }
  /// Empties the copy.
  static bool same(kept const& found, model expected) {
    if (found.size() != expected.size()) return false;
    for (; !found.empty() && found.top() == expected.top(); found.pop()) expected.pop();
    return found.empty();
  }

  template <typename Queue>
  static void step(Queue& changed, std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    if (!changed.empty()) changed.pop();
    auto const actions = random() % 400, pushes = random() % (changed.size() > 4000 ? 50 : 100);
    for (std::uint64_t i = 0; i < actions; ++i) {
      if (random() % 100 < pushes)
        changed.push(random() % keys);
      else if (!changed.empty())
        changed.pop();
    }
    changed.push(keys + number);
  }

 private:
  static constexpr std::uint64_t keys = 20'000;
  static constexpr priority_queue_options tiny() {
    return {.memory_bytes = 256_KiB, .block_bytes = 4096};
  }
};

/// Of a vector, whose item 0 has the number of steps.
struct vector_history {
  using kept = outsize::vector<long_number>;
  using model = std::vector<long_number>;
  static constexpr char const* name = "vector";

  static kept create(std::string const& path, storage& store) {
    return kept::create(path, store, tiny());
  }
  static kept open(std::string const& path, storage& store, io::access mode) {
    return kept::open(path, store, mode, tiny());
  }
  static std::uint64_t steps(kept const& found) { return found.empty() ? 0 : found.front().number; }
  static bool same(kept const& found, model const& expected) {
    return std::ranges::equal(found, expected);
  }

  template <typename Vector>
  static void step(Vector& changed, std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    auto const kind = random() % 16;
    if (kind == 0) changed.clear();
    if (kind == 1) changed.assign(random() % 2000, number);
    if (kind >= 8 && !changed.empty()) change_size(changed, random);
    if (kind % 4 == 3) changed.shrink_to_fit();
    for (std::uint64_t i = 1 + random() % 300; i > 0; --i) changed.push_back(random());
    for (std::uint64_t i = random() % 100; i > 0; --i) changed[random() % changed.size()] = i;
    for (std::uint64_t i = random() % changed.size() / 8; i > 0; --i) changed.pop_back();
    changed[0] = number;
  }

 private:
  static page_options tiny() {
    return {.page_bytes = 512, .cache_pages = 4, .spare_pages = 2, .read_ahead_pages = 1};
  }
  /// In the middle, or at the end.
  template <typename Vector>
  static void change_size(Vector& changed, std::mt19937_64& random) {
    auto const at = static_cast<std::ptrdiff_t>(random() % changed.size());
    auto const place = changed.begin() + at;
    auto const some = random() % 300;
    long_number const item = random();
    switch (random() % 4) {
      case 0: {
        std::vector<long_number> const items(some, item);
        changed.insert(place, items.begin(), items.end());
        break;
      }
      case 1: {
        auto const behind = std::ssize(changed) - at;
        changed.erase(place, place + std::min(behind, static_cast<std::ptrdiff_t>(some)));
        break;
      }
      case 2:
        changed.resize((changed.size() + static_cast<std::size_t>(at)) / 2);
        break;
      default:
        changed.resize(changed.size() + some, item);
    }
  }
};

template <template <typename...> typename List>
using histories = List<map_history, multimap_history, set_history, multiset_history,
                       unordered_map_history, priority_queue_history, vector_history>;

}  // namespace outsize::crash
