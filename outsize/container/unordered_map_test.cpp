// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// An unordered_map against std::unordered_map, with pages and caches so small that everything
// leaves all the time; its iterators; what is left of it when disks fail.

#include <outsize/container/unordered_map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/assigned_maps.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct text {
  std::array<char, 11> chars;
  friend bool operator==(text const&, text const&) = default;
};

struct text_hash {
  std::size_t operator()(text const& t) const {
    return std::hash<std::string_view>()({t.chars.data(), t.chars.size()});
  }
};

/// Many keys have the same hash value.
struct poor_hash {
  std::size_t operator()(std::uint64_t key) const { return key % 7; }
};

/// What hash functions and comparisons throw here; no std::exception, as theirs may be none.
struct refusal {};

/// Throws at one of its calls, by any thread.
struct moody {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  static inline std::atomic<std::int64_t> calls_until = never;
  static void call() {
    if (calls_until-- == 0) throw refusal();
  }
};
struct moody_hash {
  std::size_t operator()(std::uint64_t key) const {
    moody::call();
    return key / 2;  // so that a hash value has several keys
  }
};
struct moody_equal {
  bool operator()(std::uint64_t a, std::uint64_t b) const {
    moody::call();
    return a == b;
  }
};
using moody_map = unordered_map<std::uint64_t, std::uint64_t, moody_hash, moody_equal>;

/// Does `action`, in which the hash function or the comparison throws at the given call, if there
/// are so many; whether it has been done.
template <typename Action>
bool done_by_moody(std::int64_t call, Action const& action) {
  moody::calls_until = call;
  bool done = true;
  try {
    action();
  } catch (refusal const&) {
    done = false;
  }
  moody::calls_until = moody::never;
  return done;
}

template <typename T>
T made_of(std::uint64_t number) {
  if constexpr (std::integral<T>) return static_cast<T>(number);
  T item{};
  std::memcpy(&item, &number, std::min(sizeof item, sizeof number));
  return item;
}

struct unordered_maps : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::uint64_t capacity = 64_MiB;
  bool own_thread = false;
  std::unique_ptr<storage> store;
  static unordered_map_options tiny_pages() {
    return {.page_bytes = 256, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 4096};
  }

  void SetUp() override { make_storage(); }
  void make_storage() {
    auto const open = [this](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::faulty_file>(
          io::make_memory_file("memory", capacity, {.own_thread = own_thread}), plan);
    };
    disk_options disk("memory", open);
    disk.capacity_bytes = capacity;  // so that it says so when it is asked
    store = std::make_unique<storage>(
        storage_options{.disks = {disk}, .memory_bytes = 8_MiB, .threads = 1});
  }

  /// Does `action` again until it has been done.
  template <typename Action>
  decltype(auto) persist(Action const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failures;
      }
  }
  std::uint64_t failures = 0;
};

/// A map and its model, to both of which the same is done.
template <typename Key, typename Value, typename Hash>
class modelled_map {
 public:
  using map = unordered_map<Key, Value, Hash>;
  using model = std::unordered_map<Key, Value, Hash>;

  modelled_map(unordered_maps& test, unordered_map_options const& options, std::uint64_t seed,
               std::uint64_t keys)
      : test_(test), map_(*test.store, options), random_(seed), keys_(keys) {}

  void step() {
    Key const key = made_of<Key>(random_() % keys_);
    Value const value = made_of<Value>(random_());
    auto const action = random_() % 1000;
    if (action < 250) {
      auto const inserted = done([&] { return map_.insert({key, value}).second; });
      ASSERT_EQ(inserted, model_.insert({key, value}).second);
    } else if (action < 300) {
      done([&] { map_.insert_or_assign(key, value); });
      model_[key] = value;
    } else if (action < 350) {
      done([&] { map_[key] = value; });
      model_[key] = value;
    } else if (action < 500) {
      leave(key);
      ASSERT_EQ(done([&] { return map_.erase(key); }), model_.erase(key));
    } else if (action < 650) {
      done([&] { map_.insert_oblivious({key, value}); });
      model_[key] = value;
    } else if (action < 750) {
      leave(key);
      done([&] { map_.erase_oblivious(key); });
      model_.erase(key);
    } else if (action < 900) {
      look_up(key);
    } else if (action < 925) {
      keep_iterators(key);
    } else if (action < 945) {
      use_iterators();
    } else if (action < 950) {
      go_on(key);
    } else {
      seldom(action);
    }
  }
  void expect_equal() {
    auto const& fixed = std::as_const(map_);
    ASSERT_EQ(done([&] { return fixed.size(); }), model_.size());
    auto const found = done([&] {
      model items;
      for (auto const& [key, value] : fixed) EXPECT_TRUE(items.emplace(key, value).second);
      return items;
    });
    ASSERT_EQ(found, model_);
  }

 private:
  template <typename Action>
  decltype(auto) done(Action const& action) {
    return test_.persist(action);
  }
  void look_up(Key const& key) {
    auto const expected = model_.find(key);
    bool const is_there = expected != model_.end();
    auto const& fixed = std::as_const(map_);
    ASSERT_EQ(done([&] { return fixed.count(key); }), is_there ? 1U : 0U);
    auto const value = done([&] { return fixed.get(key); });
    ASSERT_EQ(value.has_value(), is_there);
    auto const at = done([&] { return fixed.find(key); });
    ASSERT_EQ(at != fixed.end(), is_there);
    if (!is_there) return;
    ASSERT_EQ(*value, expected->second);
    ASSERT_EQ(done([&] { return *at; }), (map_item<Key, Value>{key, expected->second}));
    if (random_() % 4 == 0) {
      ASSERT_EQ(done([&] { return map_.find(key)->second; }), expected->second);
      done([&] { map_.at(key) = expected->second = made_of<Value>(7); });
    }
  }
  void keep_iterators(Key const& key) {
    if (!model_.contains(key)) return;
    if (kept_.size() == 8) kept_.erase(kept_.begin());
    auto const fixed = done([&] { return std::as_const(map_).find(key); });
    kept_.push_back({key, fixed, done([&] { return map_.find(key); })});
  }
  void use_iterators() {
    for (auto const& [key, fixed, changing] : kept_) {
      auto& expected = model_.at(key);
      ASSERT_EQ(done([&] { return *fixed; }), (map_item<Key, Value>{key, expected}));
      ASSERT_TRUE(done([&] { return fixed == std::as_const(map_).find(key); }));
      if (random_() % 4 != 0) continue;
      ASSERT_EQ(done([&] { return changing->second; }), expected);
      expected = made_of<Value>(random_());
      done([&] { changing->second = expected; });
    }
  }
  /// Goes on from an item, through an iterator that can change items. Once it has, nothing waits,
  /// and so a constant one goes the same way.
  void go_on(Key const& from) {
    if (!model_.contains(from)) return;
    auto at = done([&] { return map_.find(from); });
    for (auto steps = random_() % 10 == 0 ? model_.size() : random_() % 20; steps > 0; --steps) {
      if (at == map_.end()) return;
      Key const key = done([&] { return at->first; });
      ASSERT_TRUE(model_.contains(key));
      ASSERT_EQ(done([&] { return at->second; }), model_.at(key));
      typename map::const_iterator next = at;
      auto const action = random_() % 16;
      if (action == 0) {
        erase_through(at, key);
        continue;
      }
      if (action == 1) make_wait(key);
      if (action == 2) done([&] { at->second = model_[key] = made_of<Value>(7); });
      if (action == 3) {
        auto const [first, last] = done([&] { return map_.equal_range(key); });
        ASSERT_TRUE(first == at);
        at = last;
      } else {
        done([&] { ++at; });
      }
      done([&] { ++next; });
      ASSERT_TRUE(at == next);
    }
  }
  /// Erases the item that an iterator is at, which goes on; to the end, if after an error nobody
  /// knows where to.
  void erase_through(typename map::iterator& at, Key const& key) {
    leave(key);
    at = done([&] { return std::as_const(map_).contains(key) ? map_.erase(at) : map_.end(); });
    model_.erase(key);
  }
  /// Something that concerns the item of another key, or its own value.
  void make_wait(Key const& at) {
    Key const key = made_of<Key>(random_() % keys_);
    Value const value = made_of<Value>(random_());
    if (key == at || random_() % 2 == 0) {
      done([&] { map_.insert_oblivious({key, value}); });
      model_[key] = value;
    } else {
      leave(key);
      done([&] { map_.erase_oblivious(key); });
      model_.erase(key);
    }
  }
  /// The item of a key will go, and iterators at it with it.
  void leave(Key const& key) {
    std::erase_if(kept_, [&](auto const& each) { return each.key == key; });
  }
  void seldom(std::uint64_t action) {
    if (action < 960) {
      std::vector<Key> keys(random_() % 100);
      for (auto& key : keys) key = made_of<Key>(random_() % keys_);
      std::vector<std::optional<Value>> found(keys.size());
      done([&] { std::as_const(map_).find_many(keys, found); });
      for (std::size_t i = 0; i < keys.size(); ++i) {
        auto const expected = model_.find(keys[i]);
        ASSERT_EQ(found[i].has_value(), expected != model_.end());
        if (found[i]) {
          ASSERT_EQ(*found[i], expected->second);
        }
      }
    } else if (action < 970) {
      ASSERT_EQ(done([&] { return std::as_const(map_).size(); }), model_.size());
      if (random_() % 4 == 0) {
        ASSERT_EQ(done([&] { return map_.size(); }), model_.size());
      }
    } else if (action < 980) {
      done([&] { map_.flush(); });
    } else if (action < 982) {
      done([&] { map_.shrink_to_fit(); });
    } else if (action < 984) {
      done([&] { map_.reserve(model_.size() + random_() % 200); });
    } else if (action < 986) {
      expect_equal();
    } else if (action < 987 && random_() % 10 == 0) {
      kept_.clear();
      map_.clear();
      model_.clear();
    } else if (action < 988) {
      erase_some();
    } else if (action < 996) {
      change_many();
    } else if (action < 997) {
      auto const is_unwanted = [salt = random_()](auto const& each) {
        return (std::hash<std::uint64_t>()(Hash()(each.first)) ^ salt) % 5 == 0;
      };
      auto const before = model_.size();
      std::erase_if(kept_, [&](auto const& each) { return is_unwanted(std::pair(each.key, 0)); });
      done([&] { erase_if(map_, is_unwanted); });
      ASSERT_EQ(before - std::as_const(map_).size(), std::erase_if(model_, is_unwanted));
    }
  }
  /// What fails has been done in part, and is done again.
  void change_many() {
    std::vector<std::pair<Key, Value>> items(random_() % 60);
    for (auto& [key, value] : items)
      key = made_of<Key>(random_() % keys_), value = made_of<Value>(random_());
    std::vector<Key> keys(random_() % 60);
    for (auto& key : keys) key = made_of<Key>(random_() % keys_);
    for (auto const& key : keys) leave(key);
    auto const failures = test_.failures;
    auto const before = model_.size();
    auto const inserted = done([&] { return map_.insert_many(items); });
    model_.insert(items.begin(), items.end());
    auto const between = model_.size();
    auto const erased = done([&] { return map_.erase_many(keys); });
    for (auto const& key : keys) model_.erase(key);
    if (test_.failures != failures) return;
    ASSERT_EQ(inserted, between - before);
    ASSERT_EQ(erased, between - model_.size());
  }
  /// Of all items in order those whose number is divisible by three.
  void erase_some() {
    std::size_t seen = 0;
    std::size_t const before = model_.size();
    auto at = done([&] { return map_.begin(); });
    for (; at != map_.end(); ++seen) {
      auto const key = done([&] { return at->first; });
      ASSERT_TRUE(model_.contains(key));
      if (seen % 3 != 0) {
        done([&] { ++at; });
      } else {
        auto next = at;
        done([&] { ++next; });
        leave(key);
        done([&] { return map_.erase(key); });
        model_.erase(key);
        at = next;
      }
    }
    ASSERT_EQ(seen, before);
  }

  struct kept_place {
    Key key;
    typename map::const_iterator fixed;
    typename map::iterator changing;
  };

  unordered_maps& test_;
  map map_;
  model model_;
  std::vector<kept_place> kept_;  // at items that must not go
  std::mt19937_64 random_;
  std::uint64_t keys_;
};

template <typename Key, typename Value, typename Hash = std::hash<Key>>
void run_model(unordered_maps& test, unordered_map_options const& options, std::uint64_t keys,
               int steps) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << keys << " keys of " << sizeof(Key)
                                  << ", values of " << sizeof(Value));
  modelled_map<Key, Value, Hash> both(test, options, seed, keys);
  for (int i = 0; i < steps; ++i) {
    both.step();
    if (testing::Test::HasFatalFailure()) return;
  }
  both.expect_equal();
}

TEST_F(unordered_maps, behave_as_standard_ones) {
  for (double const load : {0.3, 0.7, 1.0}) {
    auto options = tiny_pages();
    options.load = load;
    run_model<std::uint64_t, std::uint64_t>(*this, options, 3000, 20'000);
    run_model<std::int32_t, char>(*this, options, 5000, 20'000);
    run_model<text, std::uint32_t, text_hash>(*this, options, 2000, 10'000);
    run_model<std::uint64_t, std::uint64_t>(*this, options, 10, 2'000);
  }
}

/// Does the same to a map of ours, or a standard one, that has no items.
template <typename Map>
void fill_in_all_ways(Map& m) {
  using digits = std::array<char, 3>;
  std::int64_t const wide = 5;
  EXPECT_TRUE(m.insert(std::pair(3, digits{'a'})).second);
  EXPECT_FALSE(m.insert(std::pair<std::int64_t const, digits>(3, digits{'b'})).second);
  EXPECT_TRUE(m.insert({4, digits{'c'}}).second);
  EXPECT_TRUE(m.emplace(wide, digits{'d'}).second);
  EXPECT_TRUE(m.emplace(std::pair(wide + 1, digits{'e'})).second);
  EXPECT_TRUE(m.emplace(std::piecewise_construct, std::tuple(8), std::tuple()).second);
  EXPECT_EQ(m.emplace_hint(m.cend(), 12, digits{'f'})->first, 12);
  EXPECT_TRUE(m.try_emplace(10, digits{'g'}).second);
  EXPECT_TRUE(m.try_emplace(11).second);
  EXPECT_FALSE(m.try_emplace(11, digits{'h'}).second);
  EXPECT_EQ(m.try_emplace(m.cend(), 13)->second, digits());
  EXPECT_EQ(m.insert(m.cend(), std::pair(14, digits{'i'}))->second, digits{'i'});
  EXPECT_EQ(m.insert_or_assign(m.cend(), 15, digits{'j'})->second, digits{'j'});
  EXPECT_FALSE(m.insert_or_assign(15, digits{'k'}).second);
  m[17] = {'l'};
  std::vector<std::pair<std::int64_t, digits>> const others = {{20, {'m'}}, {3, {}}, {21, {}}};
  m.insert(others.begin(), others.end());
  m.insert({{22, digits{'n'}}, {20, digits{}}});
  EXPECT_EQ(m.count(20) + m.count(19), 1U);
  EXPECT_TRUE(m.contains(3));
  EXPECT_THROW(m.at(19), std::out_of_range);
}

TEST_F(unordered_maps, are_filled_in_all_ways_of_the_standard_ones) {
  using model = std::unordered_map<std::int32_t, std::array<char, 3>>;
  unordered_map<std::int32_t, std::array<char, 3>> m(*store, tiny_pages()), built(*store);
  model expected;
  fill_in_all_ways(m);
  fill_in_all_ways(expected);
  EXPECT_EQ(model(m.cbegin(), m.cend()), expected);
  built.build(expected);
  EXPECT_EQ(model(built.cbegin(), built.cend()), expected);
}

TEST_F(unordered_maps, are_made_with_content_and_compare_as_standard_ones) {
  using numbers = unordered_map<std::uint64_t, std::uint64_t>;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::uint64_t i = 0; i < 500; ++i) pairs.push_back({i * i % 300, i});
  std::unordered_map<std::uint64_t, std::uint64_t> const model(pairs.begin(), pairs.end());
  numbers const by_iterators(*store, pairs.begin(), pairs.end(), tiny_pages());
  numbers const by_range(*store, pairs, tiny_pages());
  numbers by_copy(*store, by_range);
  for (auto const* each : {&by_iterators, &by_range, &std::as_const(by_copy)}) {
    EXPECT_EQ((std::unordered_map<std::uint64_t, std::uint64_t>(each->begin(), each->end())),
              model);
    EXPECT_TRUE(*each == by_range);
  }
  by_copy[4] += 1;
  EXPECT_TRUE(by_copy != by_range);
  by_copy[4] -= 1;
  by_copy.erase(9);
  EXPECT_TRUE(by_copy != by_range);
  by_copy.insert_oblivious({9, by_range.at(9)});
  EXPECT_TRUE(std::as_const(by_copy) == by_range);
  by_copy.erase_oblivious(9);
  by_copy.insert_oblivious({1000, by_range.at(9)});
  EXPECT_TRUE(std::as_const(by_copy) != by_range);
  by_copy = {{1, 2}, {3, 4}, {1, 5}};
  EXPECT_TRUE(by_copy == numbers(*store, {{3, 4}, {1, 2}}));
  EXPECT_TRUE(numbers(*store, {}).empty());
}

TEST_F(unordered_maps, say_how_full_their_buckets_are) {
  unordered_map<std::uint64_t, std::uint64_t> m(*store, tiny_pages());
  EXPECT_EQ(m.load_factor(), 0);
  for (std::uint64_t i = 0; i < 1000; ++i) m.insert({i, i});
  EXPECT_LE(m.load_factor(), m.max_load_factor());
  EXPECT_GE(m.load_factor(), m.max_load_factor() * 0.95);
  EXPECT_LE(m.max_load_factor(), static_cast<double>(m.page_items()));
  EXPECT_EQ(m.load_factor(), 1000.0 / static_cast<double>(m.bucket_count()));
}

TEST_F(unordered_maps, give_the_items_of_a_key_and_of_many) {
  unordered_map<std::uint64_t, std::uint64_t> m(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 100; ++i) m.insert({i, 2 * i});
  m.insert_oblivious({200, 400});
  auto const [from, to] = std::as_const(m).equal_range(7);
  EXPECT_EQ((*from).second, 14U);
  EXPECT_EQ(std::distance(from, to), 1);
  auto const [first, last] = m.equal_range(7);
  EXPECT_EQ(std::distance(first, last), 1);
  EXPECT_TRUE(m.equal_range(101).first == m.end() && m.equal_range(101).second == m.end());
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> const keys = {3, 200, 101, 5};
  m.find_many(keys, [&](std::size_t i, auto const& item) {
    EXPECT_EQ(item.first, keys[i]);
    sum += item.second;
  });
  EXPECT_EQ(sum, 6U + 400 + 10);
}

/// Of which none can be made without a seed.
struct seeded_hash {
  explicit seeded_hash(std::uint64_t s) : seed(s) {}
  std::uint64_t seed;
  std::size_t operator()(std::uint64_t key) const { return key * 31 + seed; }
};
struct equal_in_steps {
  explicit equal_in_steps(std::uint64_t s) : step(s) {}
  std::uint64_t step;
  bool operator()(std::uint64_t a, std::uint64_t b) const { return a / step == b / step; }
};
struct hash_in_steps {
  std::uint64_t step;
  std::size_t operator()(std::uint64_t key) const { return key / step; }
};

TEST_F(unordered_maps, keep_the_state_of_their_functions) {
  using stepped = unordered_map<std::uint64_t, std::uint64_t, hash_in_steps, equal_in_steps>;
  stepped m(*store, tiny_pages(), {10}, equal_in_steps(10));
  for (std::uint64_t i = 0; i < 3000; ++i) m.insert({i, i});
  m.insert_oblivious({15, 7});  // in place of the key 10
  m.erase_oblivious(29);
  EXPECT_EQ(m.size(), 299U);
  EXPECT_EQ(m.get(12), 7U);
  EXPECT_EQ(m.get(31), 30U);
  EXPECT_TRUE(m.find(31) == m.find(38));
  EXPECT_FALSE(m.contains(20));
  stepped built(*store, m, tiny_pages(), m.hash_function(), m.key_eq());
  EXPECT_TRUE(built == m);
  EXPECT_EQ(built.key_eq().step, 10U);

  using seeded = unordered_map<std::uint64_t, std::uint64_t, seeded_hash>;
  scratch::directory const directory;
  auto options = tiny_pages();
  options.page_bytes = 4096;
  auto kept = seeded::create(directory.path("map"), *store, options, seeded_hash(5));
  for (std::uint64_t i = 0; i < 500; ++i) kept.insert({i, i});
  kept.close();
  EXPECT_THROW(
      seeded::open(directory.path("map"), *store, io::access::read_only, options, seeded_hash(6)),
      format_error);
  auto const again =
      seeded::open(directory.path("map"), *store, io::access::read_only, options, seeded_hash(5));
  EXPECT_EQ(again.get(77), 77U);
}

struct any_text_hash : text_hash {
  using is_transparent = void;
  using text_hash::operator();
  std::size_t operator()(std::string_view t) const {
    text whole{};
    std::ranges::copy(t, whole.chars.begin());
    return (*this)(whole);
  }
};
struct any_text_equal {
  using is_transparent = void;
  bool operator()(text const& a, text const& b) const { return a == b; }
  bool operator()(text const& a, std::string_view b) const {
    return std::string_view(a.chars.data()) == b;
  }
};

TEST_F(unordered_maps, are_searched_for_what_is_no_key) {
  unordered_map<text, int, any_text_hash, any_text_equal> m(*store, tiny_pages());
  for (int i = 0; i < 300; ++i) m.insert({text{{'a', static_cast<char>(' ' + i % 90)}}, i});
  m.insert_oblivious({text{{'w'}}, 1000});
  std::string_view const there = "aZ", waits = "w", missing = "b";
  for (auto const key : {there, waits}) {
    EXPECT_TRUE(std::as_const(m).contains(key));
    EXPECT_EQ(std::as_const(m).get(key), key == waits ? 1000 : 'Z' - ' ');
    EXPECT_EQ(std::as_const(m).find(key)->second, *m.get(key));
    EXPECT_EQ(m.count(key), 1U);
  }
  EXPECT_EQ(m.find(waits)->second, 1000);
  EXPECT_EQ(std::distance(m.equal_range(there).first, m.equal_range(there).second), 1);
  EXPECT_TRUE(m.find(missing) == m.end());
  EXPECT_EQ(m.get({{'w'}}), 1000);  // a key by braces
}

struct short_text : text {
  short_text() = default;
  short_text(std::string_view from) : text{} {
    std::ranges::copy(from.substr(0, chars.size() - 1), chars.begin());
  }
};

TEST_F(unordered_maps, ask_transparent_functions_though_the_argument_becomes_a_key) {
  struct hash : any_text_hash {
    std::size_t operator()(text const& t) const { return any_text_hash::operator()(t); }
    std::size_t operator()(std::string_view t) const {
      return any_text_hash::operator()(t.substr(0, 10));
    }
  };
  unordered_map<short_text, int, hash, any_text_equal> m(*store, tiny_pages());
  m[short_text("0123456789")] = 7;
  for (std::string_view const there : {"0123456789"}) {
    EXPECT_TRUE(m.contains(there));
    EXPECT_EQ(m.get(there), 7);
    EXPECT_EQ(m.find(there)->second, 7);
  }
  for (std::string_view const missing : {"0123456789x", "012345678"}) {
    EXPECT_FALSE(m.contains(missing));
    EXPECT_EQ(m.count(missing), 0U);
    EXPECT_EQ(m.get(missing), std::nullopt);
    EXPECT_TRUE(m.find(missing) == m.end());
    EXPECT_TRUE(std::as_const(m).equal_range(missing).first == std::as_const(m).end());
  }
  m[short_text("w")] = 1;
  m.insert_oblivious({short_text("wx"), 2});
  EXPECT_EQ(m.get(std::string_view("wx")), 2);
  unordered_map<int, int> whole(*store, tiny_pages());
  whole[5] = 1;
  EXPECT_TRUE(whole.contains(5.7));  // as std::unordered_map: its functions take keys
}

TEST_F(unordered_maps, assign_values_of_their_own_as_the_standard_ones) {
  for (unordered_map_options const& options : {tiny_pages(), unordered_map_options{}}) {
    unordered_map<std::uint64_t, scratch::three_words> m(*store, options);
    scratch::check_assignments(m, 4000);
  }
  // What waits is done by a side of the assignment.
  unordered_map<std::uint64_t, scratch::three_words> m(*store, tiny_pages());
  for (std::uint64_t key = 0; key < 300; ++key) {
    m[key] = {key, 0, 1};
    for (std::uint64_t other = 0; other < 300; ++other)
      m.insert_oblivious({1000 + other, {key + other, 1, 2}});
    m[1000 + key] = m[key];
    ASSERT_EQ(*m.get(1000 + key), (scratch::three_words{key, 0, 1}));
  }
}

TEST_F(unordered_maps, assign_values_of_their_own_to_keys_that_wait) {
  unordered_map_options const options{.page_bytes = 4096, .cache_pages = 8, .pending_bytes = 1_MiB};
  for (std::uint64_t key = 0; key < 59; ++key) {
    unordered_map<std::uint64_t, scratch::three_words> m(*store, options);
    for (std::uint64_t old = 0; old < 59; ++old) m[old].a = 10 * old;
    // The table doubles more than once before the left side has its place.
    for (std::uint64_t other = 0; other < 1000; ++other) m.insert_oblivious({1000 + other, {7}});
    m[1000] = m[key];
    ASSERT_EQ(m.get(1000)->a, 10 * key);
  }
}

TEST_F(unordered_maps, behave_so_for_long) {
  run_model<std::int32_t, char>(*this, tiny_pages(), 4000, 200'000);
}

TEST_F(unordered_maps, behave_so_with_items_as_long_as_pages_and_under_another_policy) {
  auto options = tiny_pages();
  run_model<std::uint64_t, std::array<char, 300>>(*this, options, 300, 5'000);
  options.replacement = [] { return block::make_random_replacement(1); };
  options.cache_pages = 20;
  run_model<std::uint64_t, std::uint64_t>(*this, options, 3000, 20'000);
}

TEST_F(unordered_maps, behave_so_under_a_poor_hash_function) {
  run_model<std::uint64_t, std::uint64_t, poor_hash>(*this, tiny_pages(), 500, 5'000);
}

TEST_F(unordered_maps, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "faults of seed " << seed);
  for (bool const is_threaded : {false, true}) {
    plan = std::make_shared<io::fault_plan>(scratch::late(seed));
    own_thread = is_threaded;
    make_storage();
    int const steps = is_threaded ? 3'000 : scratch::operations(200'000);
    run_model<std::uint64_t, std::uint64_t>(*this, tiny_pages(), 1000, steps);
    EXPECT_GT(plan->injected(), 500U);
  }
  EXPECT_EQ(failures, 0U);
}

TEST_F(unordered_maps, lose_nothing_when_accesses_fail) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "faults of seed " << seed);
  plan = std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed, .fail = 0.003});
  make_storage();
  run_model<std::uint64_t, std::uint64_t>(*this, tiny_pages(), 2000, scratch::operations(200'000));
  run_model<text, std::uint32_t, text_hash>(*this, tiny_pages(), 500, scratch::operations(20'000));
  EXPECT_GT(failures, scratch::operations(150U));
}

TEST_F(unordered_maps, stay_as_they_are_when_the_disk_is_full) {
  capacity = 256 * 100;
  make_storage();
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  std::uint64_t inserted = 0;
  EXPECT_THROW(
      for (;;) {
        map.insert({inserted, inserted * 2});
        ++inserted;
      },
      out_of_space);
  EXPECT_GT(inserted, 500U);
  EXPECT_EQ(map.size(), inserted);
  EXPECT_THROW(map.reserve(10'000), out_of_space);
  for (std::uint64_t i = 0; i < inserted; ++i) ASSERT_EQ(map.get(i), i * 2);
  EXPECT_FALSE(map.contains(inserted));
  for (std::uint64_t i = 0; i < inserted; i += 2) EXPECT_EQ(map.erase(i), 1U);
  map.shrink_to_fit();
  EXPECT_TRUE(map.insert({inserted, 0}).second);
}

TEST_F(unordered_maps, have_no_room_for_more_than_they_can_hold) {
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  map.insert({1, 2});
  EXPECT_THROW(map.reserve(map.max_size() + 1), std::length_error);
  EXPECT_THROW(map.reserve(UINT64_MAX), std::length_error);
  EXPECT_EQ(map.get(1), 2U);
}

/// A map whose hash function and comparison throw, and its model. An operation that throws has not
/// been done, but for an erasure that could not say what comes next.
class modelled_moody_map {
 public:
  modelled_moody_map(storage& store, unordered_map_options const& options, std::uint64_t seed)
      : map_(store, options), random_(seed) {
    map_.insert({keys, 1});
    model_.insert({keys, 1});
    stays_ = std::as_const(map_).find(keys);
  }
  std::array<std::uint64_t, 14> thrown{};  // by which action

  void step() {
    std::uint64_t const key = random_() % keys, value = random_();
    // As many calls as a lookup makes, a division, or all that waits to be done.
    auto const call = static_cast<std::int64_t>(random_() % (std::uint64_t{2} << random_() % 11));
    auto const action = random_() % thrown.size();
    std::optional<std::uint64_t> after;  // of the key
    if (auto const before = model_.find(key); before != model_.end()) after = before->second;
    auto const at = action == 5 ? std::as_const(map_).find(key) : std::as_const(map_).end();
    auto goes_on = action == 12 ? map_.find(key) : map_.end();
    bool const is_done = done_by_moody(call, [&] {
      switch (action) {
        case 0:
          map_.insert({key, value});
          if (!after) after = value;
          break;
        case 1:
          map_.insert_or_assign(key, value);
          after = value;
          break;
        case 2:
          map_[key] = value;
          after = value;
          break;
        case 3:
          map_.insert_oblivious({key, value});
          after = value;
          break;
        case 4:
          map_.erase(key);
          after.reset();
          break;
        case 5:
          if (at != map_.cend()) map_.erase(at);
          after.reset();
          break;
        case 6:
          map_.erase_oblivious(key);
          after.reset();
          break;
        case 7:
          ASSERT_EQ(map_.find(key) != map_.end(), after.has_value());
          break;
        case 8:
          ASSERT_EQ(std::as_const(map_).get(key), after);
          break;
        case 9:
          look_up_many();
          break;
        case 10:
          map_.reserve(model_.size() + random_() % 40);
          break;
        case 11:
          map_.shrink_to_fit();
          break;
        case 12:
          if (goes_on != map_.end()) ++goes_on;
          break;
        default:
          if (random_() % 2 == 0)
            map_.flush();
          else
            ASSERT_EQ(map_.size(), model_.size());
      }
    });
    if (is_done) return become(key, after);
    ++thrown[action];
    if (action == 5 && !std::as_const(map_).contains(key)) model_.erase(key);
    if (action == 12) {
      ASSERT_EQ(goes_on->first, key);
    }
    expect_equal();
  }
  void expect_equal() {
    auto const& fixed = std::as_const(map_);
    ASSERT_EQ(fixed.size(), model_.size());
    model found;
    for (auto const& [key, value] : fixed) ASSERT_TRUE(found.emplace(key, value).second);
    ASSERT_EQ(found, model_);
    for (auto const& [key, value] : model_) ASSERT_EQ(fixed.get(key), value);
    ASSERT_EQ((*stays_).second, 1U);
  }

 private:
  using model = std::unordered_map<std::uint64_t, std::uint64_t>;
  static constexpr std::uint64_t keys = 300;

  void become(std::uint64_t key, std::optional<std::uint64_t> const& value) {
    if (value)
      model_[key] = *value;
    else
      model_.erase(key);
  }
  void look_up_many() {
    std::array<std::uint64_t, 50> wanted{};
    for (auto& key : wanted) key = random_() % keys;
    std::array<std::optional<std::uint64_t>, 50> found;
    std::as_const(map_).find_many(wanted, found);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      auto const expected = model_.find(wanted[i]);
      ASSERT_EQ(found[i].has_value(), expected != model_.end());
      if (found[i]) {
        ASSERT_EQ(*found[i], expected->second);
      }
    }
  }

  moody_map map_;
  model model_;
  std::mt19937_64 random_;
  moody_map::const_iterator stays_;  // at an item that nothing is done to
};

TEST_F(unordered_maps, are_as_they_were_when_a_hash_function_or_comparison_throws) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  modelled_moody_map both(*store, tiny_pages(), seed);
  for (int i = 0; i < 8000; ++i) {
    both.step();
    if (HasFatalFailure()) FAIL() << "after " << i << " steps";
  }
  both.expect_equal();
  for (auto const times : both.thrown) EXPECT_GT(times, 10U);
}

TEST_F(unordered_maps, are_as_they_were_when_a_hash_function_or_comparison_throws_in_a_build) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const open = [](io::request_queue&) { return io::make_memory_file("memory"); };
  storage several({.disks = {disk_options("memory", open)}, .memory_bytes = 8_MiB, .threads = 3});
  struct way {
    storage* used;
    std::size_t items;
    std::uint64_t memory_bytes;  // 0: in memory alone
    int builds;
  };
  for (way const& tried : {way{store.get(), 3000, 0, 30}, way{&several, 3000, 0, 30},
                           way{&several, 150'000, 2_MiB, 5}}) {
    std::vector<map_item<std::uint64_t, std::uint64_t>> given(tried.items);
    for (std::uint64_t i = 0; i < given.size(); ++i) given[i] = {random() % tried.items, i};
    std::unordered_map<std::uint64_t, std::uint64_t> expected;
    for (auto const& [key, value] : given) expected.insert({key, value});
    std::uint64_t const free_bytes = tried.used->memory().free_bytes();
    int thrown = 0;
    for (int i = 0; i < tried.builds; ++i) {
      moody_map map(*tried.used, {.page_bytes = 1024, .cache_pages = 16});
      map.insert({5, 5});
      sort_options const options{.memory_bytes = tried.memory_bytes};
      auto const most = std::uint64_t{tried.items} * 40 >> random() % 10;
      auto const call = static_cast<std::int64_t>(random() % most);
      if (!done_by_moody(call, [&] { map.build(given, options); })) {
        ++thrown;
        ASSERT_EQ(std::as_const(map).size(), 1U);
        ASSERT_TRUE(map.begin() != map.end());
        ASSERT_EQ(map.get(5), 5U);
        map.build(given, options);
      }
      ASSERT_EQ(map.size(), expected.size());
      for (auto const& [key, value] : std::as_const(map)) ASSERT_EQ(expected.at(key), value);
    }
    EXPECT_GT(thrown, 0);
    EXPECT_EQ(tried.used->memory().free_bytes(), free_bytes);
    EXPECT_EQ(tried.used->allocated_bytes(), 0U);
  }
}

TEST_F(unordered_maps, in_files_are_as_flushed_if_their_hash_function_throws_at_the_end) {
  scratch::directory const directory;
  {
    auto map = moody_map::create(directory.path("map"), *store, tiny_pages());
    for (std::uint64_t i = 0; i < 100; ++i) map.insert({i, i});
    map.flush();
    map.insert_oblivious({100, 100});
    EXPECT_FALSE(done_by_moody(0, [&] { map.close(); }));
    EXPECT_EQ(map.size(), 101U);
    map.flush();
    for (std::uint64_t i = 0; i < 30; ++i) map.erase_oblivious(i);
    moody::calls_until = 0;
  }
  moody::calls_until = moody::never;
  auto const map = moody_map::open(directory.path("map"), *store);
  EXPECT_FALSE(map.was_closed());
  EXPECT_EQ(map.size(), 101U);
  for (std::uint64_t i = 0; i <= 100; ++i) EXPECT_EQ(map.get(i), i);
}

TEST_F(unordered_maps, are_built_from_items_in_any_order) {
  std::mt19937_64 random(std::random_device{}());
  using item = map_item<std::uint64_t, std::uint64_t>;
  for (std::size_t const count : {0U, 1U, 20U, 1000U, 30'000U}) {
    std::vector<item> given;
    std::unordered_map<std::uint64_t, std::uint64_t> model;
    for (std::size_t i = 0; i < count; ++i) {
      given.push_back({random() % (2 * count), i});
      model.insert({given.back().first, i});  // the first one stays
    }
    unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
    map.insert({5, 5});
    map.insert_oblivious({6, 6});
    map.build(given);
    ASSERT_EQ(map.size(), model.size());
    for (auto const& [key, value] : map) ASSERT_EQ(model.at(key), value);
    EXPECT_FALSE(map.contains(2 * count + 7));
    for (auto const& [key, value] : given) map.insert_or_assign(key, 1);
    EXPECT_EQ(map.size(), model.size());
  }
}

TEST_F(unordered_maps, are_built_from_a_file_larger_than_memory) {
  using item = map_item<std::uint64_t, std::uint64_t>;
  scratch::directory const directory;
  std::vector<item> given;
  for (std::uint64_t i = 0; i < 600'000; ++i) given.push_back({i * i, i});
  scratch::write_items(directory.path("items"), given);
  unordered_map<std::uint64_t, std::uint64_t> map(*store, {.page_bytes = 4096});
  map.build(items<item>(directory.path("items")));
  EXPECT_GT(store->disk_statistics(0).read_count, 0U) << "it was sorted on disk";
  EXPECT_EQ(map.size(), 600'000U);
  std::uint64_t sum = 0;
  for (auto const& [key, value] : std::as_const(map)) sum += key == value * value ? value : 0;
  EXPECT_EQ(sum, std::uint64_t{600'000} * 599'999 / 2);
  scratch::write_file(directory.path("items"), std::string(1000, 'x'));
  EXPECT_THROW(map.build(items<item>(directory.path("items"))), format_error);
  EXPECT_EQ(map.size(), 600'000U);
}

TEST_F(unordered_maps, that_cannot_be_built_are_as_they_were) {
  std::vector<map_item<std::uint64_t, std::uint64_t>> given;
  for (std::uint64_t i = 0; i < 20'000; ++i) given.push_back({i, i});
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  map.insert({1, 1});
  plan->script(io::fault_point::write, 200, io::fault::fail(EIO), 1000);
  EXPECT_THROW(map.build(given), io_error);
  EXPECT_EQ(map.size(), 1U);
  EXPECT_EQ(map.begin()->second, 1U);
  map.insert({7, 8});
  EXPECT_EQ(map.get(7), 8U);
}

TEST_F(unordered_maps, keep_their_iterators_at_their_items) {
  using map_type = unordered_map<std::uint64_t, std::uint64_t>;
  map_type map(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 100; ++i) map.insert({i, i * i});
  std::vector<map_type::iterator> places;
  std::vector<map_type::const_iterator> fixed_places;
  for (std::uint64_t i = 0; i < 100; ++i) {
    places.push_back(map.find(i));
    fixed_places.push_back(std::as_const(map).find(i));
  }
  for (std::uint64_t i = 100; i < 5000; ++i) map.insert({i, i});  // divides all buckets often
  for (std::uint64_t i = 101; i < 5000; i += 2) map.erase(i);
  for (std::uint64_t i = 5000; i < 6000; ++i) map.insert_oblivious({i, i});
  map_type moved(std::move(map));
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(*fixed_places[i], (map_item<std::uint64_t, std::uint64_t>{i, i * i}));
    EXPECT_EQ(places[i]->second, i * i);
    places[i]->second = i + 1;
    EXPECT_EQ(fixed_places[i]->second, i + 1);
    EXPECT_TRUE(fixed_places[i] == places[i]);
    EXPECT_TRUE(places[i] == moved.find(i));
  }
}

TEST_F(unordered_maps, keep_the_last_two_references_valid) {
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 2000; ++i) map.insert({i, i});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto& one = map[i];
    auto& other = map.at(1999 - i);
    std::ignore = std::as_const(map).get(i * 7 % 2000);
    std::swap(one, other);
  }
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_EQ(map.get(i), 1999 - i);
}

using unordered_map_death_test = unordered_maps;

TEST_F(unordered_map_death_test, notices_iterators_at_items_that_are_gone) {
  if (!OUTSIZE_ASSERTS) GTEST_SKIP() << "assertions are off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the storage has threads
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  map.insert({1, 1});
  auto const at = map.find(1);
  map.erase(1);
  EXPECT_DEATH(std::ignore = at->second, "found.has_value");
}

TEST_F(unordered_maps, are_forward_ranges_whose_items_can_be_erased_on_the_way) {
  using map_type = unordered_map<std::uint32_t, std::uint32_t>;
  static_assert(std::forward_iterator<map_type::iterator>);
  static_assert(std::forward_iterator<map_type::const_iterator>);
  static_assert(std::ranges::forward_range<map_type>);
  map_type map(*store, tiny_pages());
  for (std::uint32_t i = 0; i < 3000; ++i) map.insert({i, 0});
  for (auto& item : map) item.second = item.first + 1;
  std::uint64_t sum = 0;
  for (auto const& [key, value] : std::as_const(map)) sum += value - key;
  EXPECT_EQ(sum, 3000U);
  std::vector<int> seen(3000);
  for (auto at = map.begin(); at != map.end();) {
    ++seen[at->first];
    at = at->first % 3 == 0 ? map.erase(at) : std::next(at);
  }
  EXPECT_EQ(std::ranges::count(seen, 1), 3000);
  EXPECT_EQ(map.size(), 2000U);
  EXPECT_EQ(std::ranges::count_if(map, [](auto const& item) { return item.first % 3 == 0; }), 0);
}

TEST_F(unordered_maps, show_what_waits_without_doing_it) {
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 1000; ++i) map.insert({i, i});
  map.flush();
  map.insert_oblivious({3, 33});
  map.insert_oblivious({2000, 1});
  map.insert_oblivious({2001, 1});
  map.erase_oblivious(2001);
  map.erase_oblivious(4);
  map.erase_oblivious(3000);
  auto const& fixed = std::as_const(map);
  auto const before = fixed.cache_counts().first.write_backs;
  EXPECT_EQ(fixed.size(), 1000U);
  EXPECT_EQ(fixed.get(3), 33U);
  EXPECT_EQ(fixed.find(2000)->second, 1U);
  EXPECT_EQ(fixed.get(4), std::nullopt);
  EXPECT_EQ(fixed.get(2001), std::nullopt);
  std::uint64_t sum = 0, count = 0;
  for (auto const& [key, value] : fixed) {
    sum += value;
    ++count;
  }
  EXPECT_EQ(count, 1000U);
  EXPECT_EQ(sum, 1000U * 999 / 2 - 3 + 33 - 4 + 1);
  EXPECT_EQ(fixed.cache_counts().first.write_backs, before);
  EXPECT_EQ(map.erase(4), 0U);
  EXPECT_EQ(map.size(), 1000U);
}

TEST_F(unordered_maps, do_what_waits_before_an_iterator_goes_on_that_can_change_items) {
  using map_type = unordered_map<std::uint64_t, std::uint64_t>;
  map_type map(*store, tiny_pages());
  map.insert({1, 1});
  map.insert_oblivious({2, 2});
  auto at = map.find(1);
  ++at;
  at->second = 5;
  EXPECT_EQ(std::as_const(map).get(2), 5U);
  EXPECT_TRUE(++at == map.end());

  map.insert_oblivious({3, 3});
  auto const last = map.equal_range(2).second;
  ASSERT_TRUE(last != map.end());
  last->second = 6;
  EXPECT_EQ(std::as_const(map).get(3), 6U);

  map.insert_oblivious({4, 4});
  at = map.erase(map.find(3));
  ASSERT_TRUE(at != map.end());
  at->second = 7;
  EXPECT_EQ(std::as_const(map).get(4), 7U);

  map.insert_oblivious({5, 5});
  map.erase_oblivious(4);
  at = map.erase(std::as_const(map).find(5));  // which waits itself
  EXPECT_TRUE(at == map.end());
  at = map.find(1);
  EXPECT_EQ((++at)->first, 2U);
  map.insert_oblivious({2, 8});  // and comes last again
  EXPECT_EQ(at->second, 8U);
  EXPECT_TRUE(++at == map.end());
  EXPECT_EQ(map.size(), 2U);
}

TEST_F(unordered_maps, show_all_to_iterators_that_can_change_items_while_something_waits) {
  using map_type = unordered_map<std::uint64_t, std::uint64_t>;
  map_type map(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 500; ++i) map.insert({i, 1});
  auto at = map.begin();
  auto const first = at->first;
  for (std::uint64_t i = 0; i < 500; i += 5)
    if (i != first) map.erase_oblivious(i);
  for (std::uint64_t i = 500; i < 550; ++i) map.insert_oblivious({i, 1});
  auto const left = std::as_const(map).size();
  at->second = 2;  // which does nothing of that
  auto pending_last = std::as_const(map).begin();
  for (auto next = pending_last; next != map.cend(); ++next) pending_last = next;
  EXPECT_GE(pending_last->first, 500U) << "what waits comes last";

  auto const from = std::next(at);  // now it is done
  std::vector<std::uint64_t> changed;
  for (auto next = from; next != map.end(); ++next) {
    next->second += 1;
    changed.push_back(next->first);
  }
  std::vector<std::uint64_t> expected;
  for (auto next = std::next(map_type::const_iterator(at)); next != map.cend(); ++next)
    expected.push_back(next->first);
  EXPECT_EQ(changed, expected);
  EXPECT_GT(changed.size(), left / 2);
  for (auto const key : changed) ASSERT_EQ(map.get(key), 2U);
  EXPECT_EQ(std::as_const(map).size(), left);
}

TEST_F(unordered_maps, are_as_they_were_when_what_waits_cannot_be_done_for_an_iterator) {
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 1000; ++i) map.insert({i, i});
  auto at = map.find(7);
  for (std::uint64_t i = 1000; i < 1030; ++i) map.insert_oblivious({i, i});
  auto const first = plan->calls(io::fault_point::read), end = first + 100;
  plan->script(io::fault_point::read, first, io::fault::fail(EIO), end - first);
  EXPECT_THROW(++at, io_error);
  EXPECT_THROW(map.erase(at), io_error);
  EXPECT_THROW(map.equal_range(7), io_error);
  EXPECT_LT(plan->calls(io::fault_point::read), end);
  for (std::uint64_t i = 0; i < 2000; ++i)  // until all pages can be read
    persist([&] { return std::as_const(map).get(i % 1000); });
  ASSERT_GT(plan->calls(io::fault_point::read), end);
  EXPECT_EQ(at->second, 7U);
  EXPECT_EQ(std::as_const(map).size(), 1030U);
  auto const next = map.erase(at);
  EXPECT_EQ(map.size(), 1029U);
  EXPECT_TRUE(next == map.end() || map.contains(next->first));
}

TEST_F(unordered_maps, take_items_of_their_own_without_looking) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    std::uint64_t const key = random() % 2000;
    if (i % 3 == 0) {
      map.erase_oblivious(key);
      model.erase(key);
    } else if (std::as_const(map).contains(key)) {
      map.insert_oblivious(*map.find(key));  // whose page may be written anew for it
    } else {
      map.insert({key, i});
      model.insert({key, i});
    }
  }
  ASSERT_EQ(map.size(), model.size());
  for (auto const& [key, value] : std::as_const(map)) ASSERT_EQ(model.at(key), value);
}

TEST_F(unordered_maps, are_filled_by_all_the_names_of_standard_ones) {
  struct point {
    std::uint32_t x, y;
    bool operator==(point const&) const = default;
  };
  unordered_map<std::uint64_t, point, poor_hash> map(*store, tiny_pages());
  std::vector<map_item<std::uint64_t, point>> given;
  for (std::uint32_t i = 0; i < 1000; ++i) given.push_back({i % 700, {i, 1}});
  map.insert(given.begin(), given.end());
  EXPECT_EQ(map.size(), 700U);
  EXPECT_EQ(map.get(299), (point{299, 1})) << "not the one that comes later";
  EXPECT_FALSE(map.emplace(5U, point{0, 0}).second);
  auto const [there, is_new] = map.emplace(700U, point{7, 0});
  EXPECT_TRUE(is_new);
  EXPECT_EQ(there->second, (point{7, 0}));
  EXPECT_FALSE(map.try_emplace(5, 0U, 0U).second);
  EXPECT_EQ(map.try_emplace(5).first->second, (point{5, 1}));
  EXPECT_TRUE(map.try_emplace(701, 8U, 9U).second);
  EXPECT_EQ(map.get(701), (point{8, 9}));
  EXPECT_EQ(map.try_emplace(702).first->second, point());
  EXPECT_EQ(map.hash_function()(9), 2U);
  EXPECT_TRUE(map.key_eq()(3, 3));
}

TEST_F(unordered_maps, may_be_read_by_several_threads) {
  own_thread = true;
  make_storage();
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  for (std::uint64_t i = 0; i < 2000; ++i) map.insert({i, i * 3});
  for (std::uint64_t i = 0; i < 10; ++i) map.insert_oblivious({i, 0});
  auto const& fixed = std::as_const(map);
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&fixed, thread] {
      std::mt19937_64 random(thread);
      for (int i = 0; i < 500; ++i) {
        auto const key = random() % 3000;
        auto const expected = key < 10 ? 0 : key * 3;
        EXPECT_EQ(fixed.get(key), key < 2000 ? std::optional(expected) : std::nullopt);
      }
      EXPECT_EQ(std::ranges::distance(fixed), 2000);
      std::vector<std::uint64_t> keys(500);
      for (auto& key : keys) key = random() % 2000;
      std::vector<std::optional<std::uint64_t>> found(keys.size());
      fixed.find_many(keys, found);
      EXPECT_TRUE(std::ranges::all_of(found, [](auto const& v) { return v.has_value(); }));
      EXPECT_EQ(fixed.size(), 2000U);
    });
}

TEST_F(unordered_maps, give_back_disk_space_and_memory) {
  auto const free_bytes = store->memory().free_bytes();
  {
    unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
    for (std::uint64_t i = 0; i < 5000; ++i) map.insert({i, i});
    auto const full = store->allocated_bytes();
    EXPECT_LT(full, 5000 * 16 * 2.6);  // a third of these short pages is headers
    for (std::uint64_t i = 0; i < 5000; ++i)
      if (i % 10 != 0) map.erase(i);
    map.shrink_to_fit();
    EXPECT_LT(store->allocated_bytes(), full / 5);
    EXPECT_EQ(map.size(), 500U);
    for (std::uint64_t i = 0; i < 5000; i += 10) ASSERT_EQ(map.get(i), i);
    map.clear();
    EXPECT_EQ(store->allocated_bytes(), 0U);
    map.insert({1, 2});
    map.insert_oblivious({3, 4});
    unordered_map<std::uint64_t, std::uint64_t> other(std::move(map));
    EXPECT_EQ(other.size(), 2U);
  }
  EXPECT_EQ(store->allocated_bytes(), 0U);
  EXPECT_EQ(store->memory().free_bytes(), free_bytes);
}

TEST_F(unordered_maps, refuse_what_they_cannot_do) {
  unordered_map<std::uint64_t, std::uint64_t> map(*store, tiny_pages());
  EXPECT_THROW(map.at(3), std::out_of_range);
  EXPECT_THROW(std::as_const(map).at(3), std::out_of_range);
  EXPECT_EQ(map.get(3), std::nullopt);
  EXPECT_TRUE(map.empty());
  using numbers = unordered_map<std::uint64_t, std::uint64_t>;
  for (double const load : {0.0, -1.0, 1.5})
    EXPECT_THROW(numbers(*store, {.load = load}), std::invalid_argument);
  EXPECT_THROW(numbers(*store, {.page_bytes = 1_MiB}), budget_error);
  auto options = tiny_pages();
  options.pending_bytes = 1_GiB;
  numbers wasteful(*store, options);
  EXPECT_THROW(wasteful.insert_oblivious({1, 1}), budget_error);
  EXPECT_TRUE(wasteful.insert({1, 1}).second);
}

}  // namespace
}  // namespace outsize
