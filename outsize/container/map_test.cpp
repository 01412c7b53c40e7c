// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Maps and sets against those of the standard library, with leaves of a few entries and caches of a
// few pages, so that trees get high and everything is split, merged and evicted all the time;
// iterators that stay at their entries meanwhile; I/Os; what is left when disks fail.

#include <outsize/container/map.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/set.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/assigned_maps.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

// Leaves of 4 to 5 entries of 8 + 16 bytes, nodes of 5 children.
map_options const tiny{.leaf_bytes = 144,
                       .node_bytes = 100,
                       .leaf_cache_bytes = 1,
                       .node_cache_bytes = 1,
                       .spare_leaves = 2,
                       .batch_leaves = 3,
                       .read_ahead_bytes = 8 * 4 * 144};  // runs of four leaves

struct two_words {
  std::uint64_t a;
  std::uint64_t b;
  friend bool operator==(two_words const&, two_words const&) = default;
};

template <typename Model, typename Ours>
typename Model::value_type as_model(typename Ours::value_type const& entry) {
  if constexpr (std::is_void_v<typename Ours::mapped_type>)
    return entry;
  else
    return {entry.first, entry.second};
}

/// Ours and the standard library's, changed alike; and iterators of both that stand somewhere, or
/// at the end. What fails is done again until it does not: it must not have done anything.
template <typename Ours, typename Model>
class twins {
 public:
  twins(storage& store, map_options const& options, std::uint64_t seed)
      : ours_(store, options), random_(seed) {}

  void step(std::uint64_t keys) {
    auto const key = random_() % keys;
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
        return insert(key);
      case 4:
        return insert_with_hint(key);
      case 5:
        return erase_key(key);
      case 6:
      case 7:
        return erase_one(key);
      case 8:
        return random_() % 20 == 0 ? erase_range(key, keys) : insert(key);
      case 9:
        return search(key);
      case 10:
        return random_() % 150 == 0 ? replace_all(keys) : keep_iterators(key);
      default:
        return use_iterators();
    }
  }
  void check() {
    ASSERT_EQ(ours_.size(), model_.size());
    auto at = done([&] { return std::as_const(ours_).begin(); });
    for (auto place = model_.begin(); place != model_.end(); ++place) {
      ASSERT_TRUE(same(at, place));
      done([&] { return ++at; });
    }
    EXPECT_TRUE(at == std::as_const(ours_).end());
    for (auto place = model_.end(); place != model_.begin();) {
      done([&] { return --at; });
      ASSERT_TRUE(same(at, --place));
    }
    EXPECT_TRUE(at == done([&] { return std::as_const(ours_).begin(); }));
  }
  Ours& ours() { return ours_; }
  Model& model() { return model_; }
  std::uint64_t failures() const { return failures_; }

 private:
  static constexpr bool is_map = !std::is_void_v<typename Ours::mapped_type>;
  static constexpr bool is_unique = std::same_as<Model, std::set<std::uint64_t>> ||
                                    std::same_as<Model, std::map<std::uint64_t, two_words>>;

  auto entry(std::uint64_t key) {
    if constexpr (is_map)
      return typename Ours::value_type{key, {random_(), key}};
    else
      return key;
  }
  template <typename Action>
  auto done(Action const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failures_;
      }
  }
  bool same(auto const& a, auto const& b) {
    bool const end = a == std::as_const(ours_).end();
    if (end || b == model_.end()) return end && b == model_.end();
    return as_model<Model, Ours>(done([&] { return *a; })) == *b;
  }
  void insert(std::uint64_t key) {
    auto const added = entry(key);
    if constexpr (is_unique) {
      auto const [at, is_new] = done([&] { return ours_.insert(added); });
      auto const [place, was_new] = model_.insert(as_model<Model, Ours>(added));
      EXPECT_EQ(is_new, was_new);
      EXPECT_TRUE(same(at, place));
    } else {
      auto const at = done([&] { return ours_.insert(added); });
      EXPECT_TRUE(same(at, model_.insert(as_model<Model, Ours>(added))));
    }
  }
  void insert_with_hint(std::uint64_t key) {
    auto const added = entry(key);
    // One that is not right must not matter; before the first of equal ones it would be right too.
    bool const is_right = !is_unique || random_() % 2 == 0;
    std::uint64_t const other = random_() % 1000;
    auto const hint = done([&] {
      return is_right ? std::as_const(ours_).upper_bound(key)
                      : std::as_const(ours_).lower_bound(other);
    });
    auto const at = done([&] { return ours_.insert(hint, added); });
    if constexpr (is_unique)
      EXPECT_TRUE(same(at, model_.insert(as_model<Model, Ours>(added)).first));
    else
      EXPECT_TRUE(same(at, model_.insert(as_model<Model, Ours>(added))));
  }
  void erase_key(std::uint64_t key) {
    leave([&](auto const& place) { return key_of(*place) == key; });
    // Of several with this key some may have gone before another cannot.
    auto const before = ours_.size();
    done([&] { return ours_.erase(key); });
    EXPECT_EQ(before - ours_.size(), model_.erase(key));
  }
  void erase_one(std::uint64_t key) {
    auto const at = done([&] { return std::as_const(ours_).lower_bound(key); });
    auto const place = model_.lower_bound(key);
    ASSERT_TRUE(same(at, place));
    if (place == model_.end()) return;
    leave([&](auto const& each) { return each == place; });
    auto const next = done([&] { return ours_.erase(at); });
    EXPECT_TRUE(same(next, model_.erase(place)));
  }
  void erase_range(std::uint64_t key, std::uint64_t keys) {
    auto const until = key + random_() % (keys / 4);
    leave([&](auto const& place) { return key_of(*place) >= key && key_of(*place) < until; });
    auto const next = done([&] {
      return ours_.erase(std::as_const(ours_).lower_bound(key),
                         std::as_const(ours_).lower_bound(until));
    });
    EXPECT_TRUE(same(next, model_.erase(model_.lower_bound(key), model_.lower_bound(until))));
  }
  void search(std::uint64_t key) {
    auto const& constant = std::as_const(ours_);
    EXPECT_TRUE(same(done([&] { return constant.lower_bound(key); }), model_.lower_bound(key)));
    EXPECT_TRUE(same(done([&] { return constant.upper_bound(key); }), model_.upper_bound(key)));
    EXPECT_EQ(done([&] { return constant.find(key); }) == constant.end(),
              model_.find(key) == model_.end());
    EXPECT_EQ(done([&] { return constant.count(key); }), model_.count(key));
    EXPECT_EQ(done([&] { return constant.contains(key); }), model_.contains(key));
    if constexpr (is_map && is_unique) {
      auto const found = done([&] { return constant.get(key); });
      auto const place = model_.find(key);
      ASSERT_EQ(found.has_value(), place != model_.end());
      if (found) {
        EXPECT_EQ(*found, place->second);
      }
    }
  }
  /// Iterators are at the end then.
  void replace_all(std::uint64_t keys) {
    std::vector<typename Ours::value_type> content;
    auto const how = random_() % 4;
    if (how != 0)
      for (auto some = random_() % keys; some > 0; --some)
        content.push_back(entry(random_() % keys));
    for_each_kept([&](auto& all) {
      for (auto& [at, place] : all) place = model_.end();
    });
    model_.clear();
    for (auto const& each : content) model_.insert(as_model<Model, Ours>(each));
    if (how == 0) return done([&] { ours_.clear(); });
    if (how == 1) return done([&] { ours_.build(content); });
    std::ranges::stable_sort(content, {}, [](auto const& each) { return key_of(each); });
    done([&] { ours_.build_sorted(content); });
  }
  /// One of each kind: at an entry, or gone past the last one.
  void keep_iterators(std::uint64_t key) {
    bool const at_end = model_.empty() || random_() % 4 == 0;
    for_each_kept([&](auto& all) {
      if (all.size() > 30) return;
      auto const place = at_end ? model_.end() : model_.lower_bound(key);
      auto& at = all.emplace_back(done([&] { return ours_.lower_bound(key); }), place).first;
      if (place != model_.end() || model_.empty()) return;
      at = ours_.end();
      done([&] { return --at; });
      done([&] { return *at; });
      done([&] { return ++at; });
    });
  }
  void use_iterators() {
    for_each_kept([&](auto& all) {
      for (auto& [at, place] : all) {
        ASSERT_TRUE(same(typename Ours::const_iterator(at), place));
        if constexpr (requires { at->second.a = 0; })
          if (place != model_.end() && random_() % 4 == 0) {
            place->second.a = random_();
            done([&] { return at->second.a = place->second.a; });
          }
        if (random_() % 3 != 0) continue;
        if (place == model_.end() || random_() % 2 == 0) {
          if (place == model_.begin()) continue;
          done([&] { return --at; });
          --place;
        } else {
          done([&] { return ++at; });
          ++place;
        }
        ASSERT_TRUE(same(typename Ours::const_iterator(at), place));
      }
    });
    if (random_() % 10 == 0) for_each_kept([](auto& all) { all.clear(); });
  }
  void for_each_kept(auto const& action) {
    action(kept_);
    action(kept_constant_);
  }
  /// Entries will go, and iterators at them end.
  void leave(auto const& is_leaving) {
    for_each_kept([&](auto& all) {
      std::erase_if(all, [&](auto const& each) {
        return each.second != model_.end() && is_leaving(each.second);
      });
    });
  }
  static std::uint64_t key_of(auto const& entry) {
    if constexpr (is_map)
      return entry.first;
    else
      return entry;
  }

  Ours ours_;
  Model model_;
  std::vector<std::pair<typename Ours::iterator, typename Model::iterator>> kept_;
  std::vector<std::pair<typename Ours::const_iterator, typename Model::iterator>> kept_constant_;
  std::mt19937_64 random_;
  std::uint64_t failures_ = 0;
};

using numbers = map<std::uint64_t, two_words>;

/// A storage whose disk is a file in memory, without a thread.
struct quick_storage {
  explicit quick_storage(io::fault_odds const& odds = {})
      : plan(std::make_shared<io::fault_plan>(odds)) {}

  std::shared_ptr<io::fault_plan> plan;
  storage store{{.disks = {disk_options("memory",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::faulty_file>(
                                              io::make_memory_file("memory", 1_GiB), plan);
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};
};

template <typename Ours, typename Model>
void check_against(std::uint64_t keys, unsigned operations, io::fault_odds odds = {}) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << keys << " keys");
  odds.seed = seed;
  quick_storage disk(odds);
  twins<Ours, Model> both(disk.store, tiny, seed);
  unsigned const steps = scratch::operations(operations);
  for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
    both.step(keys);
    if (i % 5000 == 0) both.check();
  }
  both.check();
  EXPECT_GT(both.ours().leaf_cache_counts().misses, steps / 10);
  EXPECT_GT(both.ours().leaf_cache_counts().write_backs, steps / 10);
  if (odds.fail > 0)
    EXPECT_GT(both.failures(), steps / 1000);
  else
    EXPECT_EQ(both.failures(), 0U);
  EXPECT_EQ(disk.plan->injected() > steps / 1000, odds.fail > 0 || odds.shorten > 0);
}

TEST(maps, do_what_the_standard_ones_do) {
  check_against<numbers, std::map<std::uint64_t, two_words>>(3000, 200'000);
}
TEST(maps, of_few_keys_do_what_the_standard_ones_do) {
  check_against<numbers, std::map<std::uint64_t, two_words>>(200, 100'000);
}
TEST(maps, with_equal_keys_do_what_the_standard_ones_do) {
  check_against<multimap<std::uint64_t, two_words>, std::multimap<std::uint64_t, two_words>>(
      1000, 200'000);
}
TEST(maps, with_many_equal_keys_do_what_the_standard_ones_do) {
  check_against<multimap<std::uint64_t, two_words>, std::multimap<std::uint64_t, two_words>>(
      100, 100'000);
}
TEST(sets, do_what_the_standard_ones_do) {
  check_against<set<std::uint64_t>, std::set<std::uint64_t>>(3000, 200'000);
}
TEST(sets, with_equal_keys_do_what_the_standard_ones_do) {
  check_against<multiset<std::uint64_t>, std::multiset<std::uint64_t>>(300, 200'000);
}

io::fault_odds const failing{.fail = 0.01};
io::fault_odds const late{
    .interrupt = 0.1, .shorten = 0.2, .hold = 0.01, .max_delay = std::chrono::microseconds(20)};

TEST(maps, do_what_the_standard_ones_do_while_disks_fail) {
  check_against<numbers, std::map<std::uint64_t, two_words>>(2000, 200'000, failing);
}
TEST(maps, with_equal_keys_do_what_the_standard_ones_do_while_disks_fail) {
  check_against<multimap<std::uint64_t, two_words>, std::multimap<std::uint64_t, two_words>>(
      500, 200'000, failing);
}
TEST(sets, do_what_the_standard_ones_do_while_disks_fail) {
  check_against<set<std::uint64_t>, std::set<std::uint64_t>>(2000, 200'000, failing);
}
TEST(sets, with_equal_keys_do_what_the_standard_ones_do_while_disks_fail) {
  check_against<multiset<std::uint64_t>, std::multiset<std::uint64_t>>(300, 200'000, failing);
}

TEST(maps, notice_nothing_of_accesses_that_are_short_or_late) {
  check_against<numbers, std::map<std::uint64_t, two_words>>(2000, 200'000, late);
}
TEST(maps, with_equal_keys_notice_nothing_of_accesses_that_are_short_or_late) {
  check_against<multimap<std::uint64_t, two_words>, std::multimap<std::uint64_t, two_words>>(
      500, 200'000, late);
}
TEST(sets, notice_nothing_of_accesses_that_are_short_or_late) {
  check_against<set<std::uint64_t>, std::set<std::uint64_t>>(2000, 200'000, late);
}
TEST(sets, with_equal_keys_notice_nothing_of_accesses_that_are_short_or_late) {
  check_against<multiset<std::uint64_t>, std::multiset<std::uint64_t>>(300, 200'000, late);
}

static_assert(std::bidirectional_iterator<numbers::iterator>);
static_assert(std::bidirectional_iterator<numbers::const_iterator>);
static_assert(std::ranges::bidirectional_range<numbers>);
static_assert(std::ranges::bidirectional_range<numbers const>);
static_assert(std::ranges::bidirectional_range<set<int> const>);
static_assert(std::is_nothrow_move_constructible_v<numbers>);

using item = numbers::value_type;

std::vector<item> items_up_to(std::uint64_t count, std::uint64_t stride = 1) {
  std::vector<item> items;
  for (std::uint64_t i = 0; i < count; ++i) items.push_back({i * stride, {i, 7 * i}});
  return items;
}

/// Another number for each, in no order.
std::uint64_t mixed(std::uint64_t i) { return i * 0x9E3779B97F4A7C15U; }

TEST(maps, are_used_as_the_standard_ones_are) {
  quick_storage disk;
  map<int, double> m(disk.store, tiny);
  m[3] = 0.5;
  m[3] += 1;
  m.insert({1, 0.25});
  m.emplace(2, 8.0);
  EXPECT_FALSE(m.insert_or_assign(2, 9.0).second);
  EXPECT_TRUE(m.insert_or_assign(7, 1.0).second);
  std::string text;
  for (auto const [key, value] : std::as_const(m)) text += fmt::format("{}:{} ", key, value);
  EXPECT_EQ(text, "1:0.25 2:9 3:1.5 7:1 ");
  for (auto& [key, value] : m) value *= 2;
  EXPECT_EQ(m.at(3), 3);
  EXPECT_EQ(std::as_const(m).at(2), 18);
  EXPECT_THROW(m.at(4), std::out_of_range);
  EXPECT_THROW(std::as_const(m).at(4), std::out_of_range);
  EXPECT_EQ(m.get(4), std::nullopt);
  auto const found =
      std::ranges::find(std::as_const(m), 14.0, [](auto const& e) { return e.second + 12; });
  EXPECT_EQ(found->first, 7);
  map<int, double> other(disk.store, tiny);
  swap(m, other);
  EXPECT_TRUE(m.empty());
  m = std::move(other);
  EXPECT_EQ(m.size(), 4U);
  m.clear();
  EXPECT_TRUE(m.begin() == m.end());
  m[5] = 1;
  EXPECT_EQ(m.size(), 1U);
}

TEST(maps, are_filled_as_the_standard_ones_are) {
  quick_storage disk;
  map<int, double> m(disk.store, tiny);
  EXPECT_TRUE(m.try_emplace(3, 0.5).second);
  auto const [at, is_new] = m.try_emplace(3, 4.0);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(at->second, 0.5);
  EXPECT_EQ(m.emplace_hint(m.cend(), 5, 2.5)->first, 5);
  m.insert({{1, 0.25}, {3, 9.0}, {4, 1.5}});
  std::vector<map<int, double>::value_type> const more = {{9, 1.0}, {8, 2.0}, {9, 3.0}};
  m.insert(more.begin(), more.end());
  std::string text;
  for (auto at_end = m.crbegin(); at_end != m.crend(); ++at_end)
    text += fmt::format("{}:{} ", (*at_end).first, (*at_end).second);
  EXPECT_EQ(text, "9:1 8:2 5:2.5 4:1.5 3:0.5 1:0.25 ");
  EXPECT_TRUE(m.key_comp()(1, 2));
  set<int> s(disk.store, tiny);
  s.insert({3, 1, 2, 3});
  EXPECT_TRUE(std::ranges::equal(std::as_const(s), std::vector{1, 2, 3}));
}

struct span_of_days {
  std::int32_t first = 0;
  std::int32_t length = 0;
  span_of_days() = default;
  explicit span_of_days(std::int64_t from, int days = 1)
      : first(static_cast<std::int32_t>(from)), length(days) {}
  friend bool operator==(span_of_days const&, span_of_days const&) = default;
};

/// Does the same to a map of ours, or a standard one, that has no entries.
template <typename Map>
void fill_in_all_ways(Map& m) {
  std::int64_t const wide = 5;
  EXPECT_TRUE(m.insert(std::pair(3, span_of_days(4))).second);
  EXPECT_FALSE(m.insert(std::pair<std::int64_t const, span_of_days>(3, span_of_days(9))).second);
  EXPECT_TRUE(m.insert({4, span_of_days(8, 2)}).second);
  EXPECT_TRUE(m.emplace(wide, wide).second);  // converts the key, and makes the value explicitly
  EXPECT_TRUE(m.emplace(std::pair(wide + 1, 3)).second);
  EXPECT_TRUE(m.emplace(std::piecewise_construct, std::tuple(8), std::tuple(wide, 7)).second);
  EXPECT_TRUE(m.emplace(std::piecewise_construct, std::tuple(9), std::tuple()).second);
  EXPECT_EQ(m.emplace_hint(m.cend(), 12, 4)->second, span_of_days(4));
  EXPECT_TRUE(m.try_emplace(10, wide, 7).second);
  EXPECT_TRUE(m.try_emplace(11).second);
  EXPECT_FALSE(m.try_emplace(11, wide).second);
  EXPECT_EQ(m.try_emplace(m.cend(), 13, wide)->second.first, 5);
  EXPECT_EQ(m.try_emplace(m.cbegin(), 13, 0)->second.first, 5);
  EXPECT_EQ(m.insert(m.cbegin(), std::pair(14, span_of_days(1)))->second, span_of_days(1));
  EXPECT_EQ(m.insert_or_assign(m.cend(), 15, span_of_days(2))->second, span_of_days(2));
  EXPECT_EQ(m.insert_or_assign(m.cbegin(), 15, span_of_days(3))->second, span_of_days(3));
  EXPECT_TRUE(m.insert_or_assign(16, span_of_days(3)).second);
  EXPECT_FALSE(m.insert_or_assign(16, span_of_days(4)).second);
  EXPECT_EQ(m[17], span_of_days());
  m[17] = span_of_days(6);
  std::map<std::int64_t, span_of_days> const others = {{20, span_of_days(1)}, {3, {}}, {21, {}}};
  m.insert(others.begin(), others.end());
  m.insert({{22, span_of_days(7)}, {20, {}}});
  EXPECT_EQ(m.count(20) + m.count(19), 1U);
  EXPECT_TRUE(m.contains(3));
  EXPECT_THROW(m.at(19), std::out_of_range);
}

TEST(maps, are_filled_in_all_ways_of_the_standard_ones) {
  quick_storage disk;
  map<std::int32_t, span_of_days> m(disk.store, tiny);
  std::map<std::int32_t, span_of_days> model;
  fill_in_all_ways(m);
  fill_in_all_ways(model);
  // Entries become pairs, as which they can be compared and kept.
  EXPECT_TRUE(std::equal(m.cbegin(), m.cend(), model.begin(), model.end()));
  EXPECT_EQ((std::map<std::int32_t, span_of_days>(m.cbegin(), m.cend())), model);
  std::pair<std::int32_t const, span_of_days> const first = *m.cbegin();
  EXPECT_EQ(first, *model.begin());
  static_assert(external_item<map_item<std::int32_t, span_of_days>>);
  static_assert(!std::constructible_from<map_item<int, int>, char const*, int>);
  static_assert(!std::convertible_to<std::pair<int, int>, map_item<int, span_of_days>>);
}

TEST(maps, are_built_and_changed_by_batches_of_pairs) {
  quick_storage disk;
  std::vector<std::pair<std::uint64_t, two_words>> pairs;
  for (std::uint64_t i = 0; i < 500; ++i) pairs.push_back({mixed(i) % 300, {i, i}});
  std::map<std::uint64_t, two_words> const model(pairs.begin(), pairs.end());
  numbers built(disk.store, tiny), changed(disk.store, tiny), sorted(disk.store, tiny);
  built.build(pairs);
  EXPECT_EQ(changed.insert_many(pairs), model.size());
  EXPECT_EQ(changed.insert_many({{1000, {1, 2}}, {1001, {3, 4}}}), 2U);
  EXPECT_EQ(changed.erase_many(std::vector<std::uint64_t>{1000, 1001, 1002}), 2U);
  sorted.build_sorted(model);
  for (auto const* const each : {&built, &changed, &sorted})
    EXPECT_TRUE(std::equal(each->cbegin(), each->cend(), model.begin(), model.end()));
  set<std::uint64_t> keys(disk.store, tiny);
  keys.build(model | std::views::keys);
  EXPECT_TRUE(std::ranges::equal(std::as_const(keys), model | std::views::keys));
}

TEST(maps, assign_values_of_their_own_as_the_standard_ones) {
  quick_storage disk;
  for (map_options const& options : {tiny, map_options{.leaf_cache_bytes = 1}}) {
    map<std::uint64_t, scratch::three_words> m(disk.store, options);
    scratch::check_assignments(m, 4000);
  }
}

/// Keys 0, 2, 4, …; each value says its key.
void fill_with_even_keys(map<std::uint64_t, scratch::three_words>& m) {
  for (std::uint64_t key = 0; key < 40'000; key += 2) m[key] = {key, key, key};
}

TEST(maps, know_a_leaf_that_was_lent_before_others_were_touched_in_turns) {
  quick_storage disk;
  map<std::uint64_t, scratch::three_words> m(disk.store, {.leaf_bytes = 16_KiB});
  fill_with_even_keys(m);
  auto const& old = m[100];
  std::uint64_t sum = 0;
  for (int turn = 0; turn < 3; ++turn) sum += m[10'000].a + m[20'000].b;
  m[51] = old;
  EXPECT_EQ(m.get(51)->a, 100U);
  EXPECT_EQ(sum, 90'000U);
}

TEST(maps, let_a_reference_be_read_after_two_insertions_that_split_leaves) {
  quick_storage disk;
  for (std::uint64_t x = 4; x < 200; x += 2) {
    map<std::uint64_t, scratch::three_words> m(
        disk.store,
        {.leaf_bytes = 256, .node_bytes = 256, .leaf_cache_bytes = 1, .spare_leaves = 0});
    fill_with_even_keys(m);
    auto const& old = m[x];
    m[10'001 + 2 * x] = {};
    m[30'001 + 2 * x] = old;
    ASSERT_EQ(m.get(30'001 + 2 * x)->a, x);
    auto const larger = [](auto const& p, auto const& q) -> auto const& {
      return p.a < q.a ? q : p;
    };
    m[20'001 + 2 * x] = larger(m[x], m[5001 + 2 * x]);
    ASSERT_EQ(m.get(20'001 + 2 * x)->a, x);
  }
}

TEST(maps, show_constant_iterators_a_leaf_that_went_on_elsewhere) {
  quick_storage disk;
  map<int, scratch::three_words> m(disk.store);
  m[5] = {5, 5, 5};
  auto const at = m.cbegin();
  EXPECT_EQ(at->second.a, 5U);
  auto const& lent = m[5];
  m[4] = lent;
  m[5].a = 6;
  EXPECT_EQ((*at).first, 5);
  EXPECT_EQ(at->second.a, 6U);
}

TEST(sets, make_keys_of_arguments_as_the_standard_ones_do) {
  quick_storage disk;
  auto const by_first = [](span_of_days const& a, span_of_days const& b) {
    return a.first < b.first;
  };
  set<span_of_days, decltype(by_first)> s(disk.store, tiny, by_first);
  std::set<span_of_days, decltype(by_first)> model(by_first);
  auto const fill = [](auto& some) {
    EXPECT_TRUE(some.emplace(std::int64_t{5}).second);
    EXPECT_FALSE(some.emplace(5, 9).second);
    EXPECT_TRUE(some.emplace(7, 2).second);
    EXPECT_EQ(some.emplace_hint(some.cend(), 9, 3)->length, 3);
    EXPECT_TRUE(some.emplace().second);
  };
  fill(s);
  fill(model);
  EXPECT_TRUE(std::ranges::equal(std::as_const(s), model));
  set<float> numbers_of_floats(disk.store, tiny);
  EXPECT_TRUE(numbers_of_floats.emplace(7).second);  // which braces would refuse
}

TEST(maps, are_made_with_content_as_the_standard_ones) {
  quick_storage disk;
  std::vector<std::pair<std::uint64_t, two_words>> pairs;
  for (std::uint64_t i = 0; i < 300; ++i) pairs.push_back({mixed(i) % 200, {i, i}});
  std::map<std::uint64_t, two_words> const model(pairs.begin(), pairs.end());
  numbers const by_iterators(disk.store, pairs.begin(), pairs.end(), tiny);
  numbers const by_range(disk.store, pairs, tiny);
  numbers const by_copy(disk.store, by_range, tiny);
  for (auto const* each : {&by_iterators, &by_range, &by_copy})
    EXPECT_TRUE(std::equal(each->begin(), each->end(), model.begin(), model.end()));
  static_assert(detail::range_in_pieces<numbers> && detail::range_in_pieces<set<int>>);
  multimap<std::uint64_t, two_words> const all(disk.store, pairs, tiny);
  std::multimap<std::uint64_t, two_words> const all_plain(pairs.begin(), pairs.end());
  EXPECT_TRUE(std::equal(all.begin(), all.end(), all_plain.begin(), all_plain.end()));

  using falling = map<int, double, std::greater<>>;
  falling m(disk.store, {{1, 0.5}, {3, 1.5}, {1, 2.5}}, tiny);
  std::map<int, double, std::greater<>> plain = {{1, 0.5}, {3, 1.5}, {1, 2.5}};
  EXPECT_TRUE(std::equal(m.cbegin(), m.cend(), plain.begin(), plain.end()));
  EXPECT_TRUE(m.value_comp()({3, 0.0}, {1, 0.0}));
  m = {{7, 1.0}};
  EXPECT_EQ(m.size(), 1U);
  EXPECT_TRUE(falling(disk.store, {}).empty());
  set<int> const s(disk.store, {3, 1, 2, 3}, tiny);
  EXPECT_EQ(s.size(), 3U);
  static_assert(std::constructible_from<set<int>, std::initializer_list<int>>);
  static_assert(std::constructible_from<set<int>, int*, int*>);
}

TEST(maps, compare_as_the_standard_ones) {
  quick_storage disk;
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100; ++i) {
    std::map<int, int> a, b;
    for (auto count = random() % 40; count > 0; --count)
      a[static_cast<int>(random() % 50)] = static_cast<int>(random() % 3);
    b = a;
    if (random() % 2 == 0) b[static_cast<int>(random() % 50)] = 1;
    if (random() % 3 == 0 && !b.empty()) b.erase(b.begin());
    map<int, int> const x(disk.store, a, tiny), y(disk.store, b, tiny);
    ASSERT_EQ(x == y, a == b);
    ASSERT_EQ(x <=> y, a <=> b);
    ASSERT_EQ(x < y, a < b);
  }
  map<int, span_of_days> const x(disk.store, tiny), y(disk.store, tiny);
  EXPECT_TRUE(x == y);  // values need no order for that
  multiset<int> const s(disk.store, {1, 1, 2}, tiny), t(disk.store, {1, 2}, tiny);
  EXPECT_TRUE(s != t && s < t);
}

/// Erases from ours and the model, and compares what is left; the iterators at what is not unwanted
/// stay.
template <typename Ours, typename Model>
void check_erase_if(storage& store, Model model, std::uint64_t part) {
  Ours m(store, model, tiny);
  auto const unwanted = [&](auto const& entry) {
    if constexpr (requires { entry.first; })
      return mixed(entry.first) % 8 < part;
    else
      return mixed(entry) % 8 < part;
  };
  std::vector<typename Ours::const_iterator> kept;
  for (auto at = m.cbegin(); at != m.cend(); ++at)
    if (!unwanted(*at) && kept.size() < 50) kept.push_back(at);
  std::uint64_t asked = 0;
  auto const before = model.size();
  EXPECT_EQ(outsize::erase_if(m, [&](auto const& entry) { return ++asked, unwanted(entry); }),
            std::erase_if(model, unwanted));
  EXPECT_EQ(asked, before);
  EXPECT_TRUE(std::equal(m.cbegin(), m.cend(), model.begin(), model.end()));
  for (auto const& at : kept) EXPECT_FALSE(unwanted(*at));
}

TEST(maps, erase_what_is_unwanted_as_the_standard_ones) {
  quick_storage disk;
  for (std::uint64_t const part : {0U, 1U, 4U, 7U, 8U})
    for (std::uint64_t const count : {0U, 1U, 5U, 1000U}) {
      SCOPED_TRACE(testing::Message() << part << " eighths of " << count);
      std::map<std::uint64_t, two_words> entries;
      std::multiset<std::uint64_t> keys;
      for (std::uint64_t i = 0; i < count; ++i) {
        entries[i] = {i, i};
        keys.insert(i / 3);
      }
      check_erase_if<numbers>(disk.store, entries, part);
      check_erase_if<multiset<std::uint64_t>>(disk.store, keys, part);
    }
}

struct by_day {
  using is_transparent = void;
  bool operator()(span_of_days const& a, span_of_days const& b) const { return a.first < b.first; }
  bool operator()(span_of_days const& a, std::string_view b) const { return decade(a) < b.size(); }
  bool operator()(std::string_view a, span_of_days const& b) const { return a.size() < decade(b); }
  static std::size_t decade(span_of_days const& s) {
    return static_cast<std::size_t>(s.first) / 10;
  }
};

/// Searches among the same keys of ours, or a standard one, of which ten are equal to a string.
template <typename Set>
std::vector<std::int64_t> found_by_length(Set& s, std::string_view text) {
  auto const place = [&](auto at) {
    return at == std::as_const(s).end() ? -1 : std::int64_t{(*at).first};
  };
  auto const [from, to] = s.equal_range(text);
  EXPECT_TRUE(from == std::as_const(s).lower_bound(text));
  EXPECT_TRUE(to == std::as_const(s).upper_bound(text));
  bool const is_there = std::as_const(s).find(text) != std::as_const(s).end();
  return {place(from), place(to), static_cast<std::int64_t>(s.count(text)), s.contains(text),
          is_there};
}

TEST(sets, are_searched_for_what_is_no_key) {
  quick_storage disk;
  set<span_of_days, by_day> s(disk.store, tiny);
  std::set<span_of_days, by_day> model;
  for (std::int64_t day = 0; day < 300; ++day) {
    if (day / 10 == 7) continue;
    s.emplace(day);
    model.emplace(day);
  }
  for (std::int64_t day = 0; day < 300; day += 10) {  // so that separators are of what is gone
    s.erase(span_of_days(day));
    model.erase(span_of_days(day));
  }
  for (std::size_t length = 0; length < 32; ++length) {
    std::string const text(length, 'x');
    EXPECT_EQ(found_by_length(s, text), found_by_length(model, text));
  }
  map<span_of_days, int, by_day> const m(disk.store, {{span_of_days(15), 7}}, tiny);
  EXPECT_EQ(m.get(std::string_view("x")), 7);
  EXPECT_EQ(m.get(std::string_view("xx")), std::nullopt);
  map<std::array<int, 2>, int> const by_braces(disk.store, {{{15, 3}, 7}}, tiny);
  EXPECT_TRUE(by_braces.contains({15, 3}));
  EXPECT_EQ(by_braces.find({15, 3})->second, 7);
}

/// What is found by all searches, as places; the number of equal keys last.
template <typename Set, typename K>
std::vector<std::int64_t> found_of(Set& s, K const& key) {
  auto const& constant = std::as_const(s);
  auto const place = [&](auto const& at) { return std::distance(constant.begin(), at); };
  auto const [from, to] = constant.equal_range(key);
  EXPECT_TRUE(s.find(key) == constant.find(key));
  EXPECT_TRUE(s.lower_bound(key) == constant.lower_bound(key));
  EXPECT_TRUE(s.upper_bound(key) == constant.upper_bound(key));
  EXPECT_EQ(constant.contains(key), constant.find(key) != constant.end());
  bool const is_found = constant.find(key) != constant.end();
  return {place(from),
          place(to),
          place(constant.lower_bound(key)),
          place(constant.upper_bound(key)),
          is_found,
          static_cast<std::int64_t>(s.count(key))};
}

/// A key that keeps the first four characters of a text, and is less than texts as a text.
struct short_text {
  std::array<char, 4> chars{};
  short_text() = default;
  short_text(std::string_view text) { std::ranges::copy(text.substr(0, 4), chars.begin()); }
  std::string_view view() const {
    std::string_view const all(chars.data(), chars.size());
    return all.substr(0, all.find('\0'));
  }
  friend bool operator<(short_text const& a, short_text const& b) { return a.view() < b.view(); }
  friend bool operator<(short_text const& a, std::string_view b) { return a.view() < b; }
  friend bool operator<(std::string_view a, short_text const& b) { return a < b.view(); }
};

TEST(sets, ask_a_transparent_comparison_though_the_argument_becomes_a_key) {
  quick_storage disk;
  EXPECT_FALSE(set<int>(disk.store, {5}, tiny).contains(5.7));
  EXPECT_TRUE((set<int, std::less<int>>(disk.store, {5}, tiny).contains(5.7)));  // as std::set<int>
  std::set<int, std::less<>> model;
  std::multiset<int, std::greater<>> falling_model;
  for (int i = 0; i < 300; ++i) {
    model.insert(static_cast<int>(mixed(static_cast<std::uint64_t>(i)) % 200) - 100);
    falling_model.insert(static_cast<int>(mixed(static_cast<std::uint64_t>(i)) % 90) - 45);
  }
  set<int> s(disk.store, model, tiny);
  multiset<int, std::greater<>> falling(disk.store, falling_model, tiny);
  for (double key = -110; key < 110; key += 0.25) {
    ASSERT_EQ(found_of(s, key), found_of(model, key)) << key;
    ASSERT_EQ(found_of(falling, key), found_of(falling_model, key)) << key;
  }

  std::set<short_text, std::less<>> texts_model;
  for (int i = 0; i < 200; ++i) texts_model.insert(short_text(fmt::format("{:o}", i)));
  set<short_text> texts(disk.store, texts_model, tiny);
  for (int i = 0; i < 2000; ++i) {
    auto const text = fmt::format("{:o}", i);
    ASSERT_EQ(found_of(texts, std::string_view(text)),
              found_of(texts_model, std::string_view(text)));
  }
  EXPECT_FALSE(set<short_text>(disk.store, {short_text("truncated")}, tiny)
                   .contains(std::string_view("truncated")));
  map<short_text, int> const m(disk.store, {{short_text("trun"), 7}}, tiny);
  EXPECT_EQ(m.get(std::string_view("truncated")), std::nullopt);
  EXPECT_EQ(m.get(std::string_view("trun")), 7);
}

TEST(sets, compare_integers_by_value_whatever_their_types_are) {
  quick_storage disk;
  std::set<int> const keys = {-300, -1, 0, 5, 44, 127};
  set<int> s(disk.store, keys, tiny);
  std::set<std::int64_t> wide_keys(keys.begin(), keys.end());
  std::int64_t const beyond = std::int64_t{1} << 32;
  for (std::int64_t const key : {-beyond - 300, -beyond, -300L, -1L, 0L, 5L, 6L, 127L, 200L,
                                 beyond - 1, beyond, beyond + 5, INT64_MAX, INT64_MIN})
    EXPECT_EQ(found_of(s, key), found_of(wide_keys, key)) << key;
  EXPECT_FALSE(s.contains(UINT32_MAX));  // which is -1 to operator<
  EXPECT_TRUE(s.find(UINT64_MAX) == s.end());
  EXPECT_TRUE(s.contains(5U));
  EXPECT_EQ(s.lower_bound(0U), s.find(0));
  set<std::uint8_t, std::greater<>> bytes(disk.store, {44, 255}, tiny);
  EXPECT_FALSE(bytes.contains(300));
  EXPECT_FALSE(bytes.contains(-1));
  EXPECT_EQ(bytes.lower_bound(300), bytes.begin());
  EXPECT_EQ(bytes.lower_bound(-1), bytes.end());
}

TEST(maps, are_searched_for_what_becomes_a_key) {
  quick_storage disk;
  map<std::int64_t, int> const m(disk.store, {{-5, 1}, {5, 2}, {-9, 3}}, tiny);
  EXPECT_EQ(m.get(5U), 2);  // std::less<> would take -5 for more
  EXPECT_EQ(m.lower_bound(std::uint64_t{0})->first, 5);
  EXPECT_EQ(m.count(std::int16_t{-9}), 1U);
}

TEST(maps, are_read_backward_as_forward) {
  quick_storage disk;
  map<std::uint64_t, two_words> m(disk.store, tiny);
  std::map<std::uint64_t, two_words> model;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    m.insert({i * 7 % 1000, {i, 0}});
    model.insert({i * 7 % 1000, {i, 0}});
  }
  auto expected = model.rbegin();
  for (auto at = m.crbegin(); at != m.crend(); ++at, ++expected) {
    ASSERT_EQ((*at).first, expected->first);
    ASSERT_EQ(at->second.a, expected->second.a);
  }
  EXPECT_TRUE(expected == model.rend());

  for (auto at = m.rbegin(); at != m.rend(); at++) (*at).second.b = at->first;
  map<std::uint64_t, two_words>::const_reverse_iterator const end = m.rend();
  auto at = end;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    --at;
    ASSERT_EQ(at->first, key);
    ASSERT_EQ(at->second.b, key);
  }
  EXPECT_TRUE(at == m.crbegin());
  EXPECT_EQ(std::distance(m.crbegin(), end), 1000);
}

TEST(maps, reverse_iterators_are_at_what_is_before_their_base) {
  quick_storage disk;
  multimap<std::uint64_t, two_words> m(disk.store, tiny);
  std::multimap<std::uint64_t, two_words> model;
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (std::uint64_t key = 0; key < 400; key += 2) {
    m.insert({key, {key, 0}});
    model.insert({key, {key, 0}});
  }
  for (int turn = 0; turn < 20; ++turn) {
    std::uint64_t const base = 100 + random() % 200 / 2 * 2;  // is never erased meanwhile
    m.insert({base, {base, 0}});
    model.insert({base, {base, 0}});
    auto const kept = std::make_reverse_iterator(m.lower_bound(base));
    decltype(m)::reverse_iterator const at(m.lower_bound(base));
    decltype(m)::const_reverse_iterator const fixed(at);
    std::reverse_iterator const expected(model.lower_bound(base));
    for (int step = 0; step < 200; ++step) {
      std::uint64_t const key = random() % 400;
      if (key != base && random() % 2 == 0) {
        EXPECT_EQ(m.erase(key), model.erase(key));
      } else if (key != base) {
        m.insert({key, {key, 0}});
        model.insert({key, {key, 0}});
      }
      if (expected == model.rend()) {
        ASSERT_TRUE(at == m.rend());
        continue;
      }
      ASSERT_EQ(at->first, expected->first);
      ASSERT_EQ(fixed->first, expected->first);
      ASSERT_EQ(kept->first, expected->first);
    }
  }
}

TEST(maps, find_all_with_a_key) {
  quick_storage disk;
  multimap<std::uint64_t, two_words> m(disk.store, tiny);
  std::multimap<std::uint64_t, two_words> model;
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < 600; ++i) {
    std::uint64_t const key = random() % 60;  // some fill several leaves
    m.insert({key, {i, 0}});
    model.insert({key, {i, 0}});
  }
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; key < 64; ++key) {
    keys.push_back(63 - key);
    auto const count = static_cast<std::ptrdiff_t>(model.count(key));
    EXPECT_EQ(m.count(key), model.count(key));
    auto const fixed = std::as_const(m).equal_range(key);
    EXPECT_EQ(std::distance(fixed.first, fixed.second), count);
    auto const [from, to] = m.equal_range(key);
    EXPECT_EQ(std::distance(from, to), count);
    EXPECT_TRUE(from == m.lower_bound(key) && to == m.upper_bound(key));
    auto const expected = model.equal_range(key);
    EXPECT_TRUE(std::equal(fixed.first, fixed.second, expected.first, expected.second,
                           [](auto const& a, auto const& b) { return a.second == b.second; }));
  }
  std::vector<std::optional<two_words>> found(keys.size());
  m.find_many(keys, found);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const first = model.lower_bound(keys[i]);
    bool const is_there = first != model.end() && first->first == keys[i];
    ASSERT_EQ(found[i].has_value(), is_there);
    if (is_there) {
      EXPECT_EQ(*found[i], first->second) << "the first of equal ones";
    }
  }
}

TEST(maps, are_searched_by_several_threads_at_once) {
  quick_storage disk;
  numbers m(disk.store, tiny);
  auto const all = items_up_to(3000, 2);
  m.build_sorted(all);
  m.insert({5, {0, 0}});  // so that not all pages are as they were written
  auto const& fixed = m;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> readers;
  for (unsigned seed = 0; seed < 4; ++seed)
    readers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      for (int i = 0; i < 300; ++i) {
        std::uint64_t const n = random() % 2000 + 500;
        wrong += fixed.get(2 * n) != all[n].second;
        wrong += fixed.contains(2 * n + 1);
        wrong += (*fixed.lower_bound(2 * n - 1)).first != 2 * n;
        wrong += (*std::prev(fixed.upper_bound(2 * n))).first != 2 * n;
        std::vector<std::uint64_t> const keys = {2 * n, 2 * n + 1, 4};
        std::size_t found = 0;
        fixed.find_many(keys, [&](std::size_t, item const& each) {
          wrong += each.second != all[each.first / 2].second;
          ++found;
        });
        wrong += found != 2;
      }
    });
  readers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(maps, order_their_keys_as_they_are_told) {
  quick_storage disk;
  std::vector<int> const keys = {5, 1, 4, 1, 3};
  set<int, std::greater<>> falling(disk.store, tiny);
  falling.build(keys);
  EXPECT_TRUE(std::ranges::equal(std::as_const(falling), std::vector{5, 4, 3, 1}));
  auto const modulo = [](int a, int b) { return a % 3 < b % 3; };
  multiset<int, decltype(modulo)> rests(disk.store, tiny, modulo);
  rests.build(keys);
  EXPECT_TRUE(std::ranges::equal(std::as_const(rests), std::vector{3, 1, 4, 1, 5}));
}

TEST(maps, are_built_at_once_from_sorted_input_and_from_any) {
  for (std::uint64_t count : {0U, 1U, 4U, 5U, 6U, 100U, 1000U})
    for (double fill : {0.5, 1.0}) {
      SCOPED_TRACE(testing::Message() << count << " items, filled to " << fill);
      quick_storage disk;
      auto items = items_up_to(count, 3);
      numbers sorted(disk.store, tiny);
      sorted.build_sorted(items, fill);
      std::ranges::shuffle(items, std::mt19937_64(count));
      numbers any(disk.store, tiny);
      any.build(items, fill);
      std::ranges::sort(items, {}, &item::first);
      for (numbers* m : {&sorted, &any}) {
        ASSERT_EQ(m->size(), count);
        EXPECT_TRUE(std::ranges::equal(std::as_const(*m), items));
        for (std::uint64_t key = 0; key < 3 * count; ++key)
          ASSERT_EQ(m->contains(key), key % 3 == 0) << key;
        m->insert({1, {}});  // it can be changed as any other
        m->erase(0);
        EXPECT_EQ(m->begin()->first, 1U);
      }
    }
}

TEST(maps, keep_the_first_of_equal_keys_when_they_are_built) {
  quick_storage disk;
  std::vector<item> const items = {{1, {1, 0}}, {1, {2, 0}}, {2, {3, 0}}, {2, {4, 0}}};
  numbers m(disk.store, tiny);
  m.build_sorted(items);
  EXPECT_EQ(m.size(), 2U);
  EXPECT_EQ(m.get(1)->a, 1U);
  EXPECT_EQ(m.get(2)->a, 3U);
  multimap<std::uint64_t, two_words> all(disk.store, tiny);
  all.build_sorted(items);
  EXPECT_TRUE(std::ranges::equal(std::as_const(all), items));
}

TEST(maps, keep_the_order_of_equal_keys_when_they_are_built_from_any_input) {
  quick_storage disk;
  using number = std::uint64_t;
  // Whose entries could be sorted as one number.
  std::vector<map_item<number, number>> items;
  for (number i = 0; i < 300; ++i) items.push_back({i * 7 % 10, 1000 - i});
  map<number, number> m(disk.store, tiny);
  m.build(items);
  multimap<number, number> all(disk.store, tiny);
  all.build(items);
  std::ranges::stable_sort(items, {}, &map_item<number, number>::first);
  EXPECT_TRUE(std::ranges::equal(std::as_const(all), items));
  for (number key = 0; key < 10; ++key)
    EXPECT_EQ(m.get(key), std::as_const(all).lower_bound(key)->second);
}

TEST(maps, refuse_input_that_is_not_sorted) {
  quick_storage disk;
  auto items = items_up_to(50);
  std::swap(items[40], items[41]);
  numbers m(disk.store, tiny);
  EXPECT_THROW(m.build_sorted(items), format_error);
  EXPECT_TRUE(m.empty());
  m.build(items);
  EXPECT_EQ(m.size(), 50U);
}

TEST(maps, have_leaves_as_full_as_they_were_asked_for) {
  constexpr std::uint64_t in_a_leaf = 100, stored = 30'000;
  for (double const fill : {1.0, 0.75, 0.5, 0.25}) {
    scratch::counted_storage disk(8_MiB);
    numbers m(disk.store, {.leaf_bytes = 24 + in_a_leaf * sizeof(item)});
    std::uint64_t const before = disk.tally->writes().bytes;
    m.build_sorted(items_up_to(stored), fill);
    auto const leaves = static_cast<std::uint64_t>(static_cast<double>(stored / in_a_leaf) / fill);
    std::uint64_t const bytes = disk.tally->writes().bytes - before;
    EXPECT_EQ(bytes / (24 + in_a_leaf * sizeof(item)), leaves) << "filled to " << fill;
  }
}

TEST(maps, cannot_be_filled_to_what_is_no_part) {
  quick_storage disk;
  numbers m(disk.store, tiny);
  for (double const fill : {0.2, 0.0, -1.0, 1.1, std::nan("")}) {
    EXPECT_THROW(m.build_sorted(items_up_to(10), fill), std::invalid_argument);
    EXPECT_THROW(m.build(items_up_to(10), fill), std::invalid_argument);
    EXPECT_TRUE(m.empty());
  }
  m.build(items_up_to(10), 0.25);
  EXPECT_EQ(m.size(), 10U);
}

TEST(maps, are_as_they_were_when_the_disk_is_full) {
  storage store{
      {.disks = {disk_options(
           "small", [](io::request_queue&) { return io::make_memory_file("small", 128_KiB); })},
       .memory_bytes = 16_MiB,
       .threads = 1}};
  numbers m(store, tiny);
  std::uint64_t count = 0;
  auto const fill = [&] {
    for (;; ++count) m.insert({mixed(count), {count, 0}});
  };
  EXPECT_THROW(fill(), out_of_space);
  EXPECT_GT(count, 1000U);
  auto const expect_all = [&] {
    ASSERT_EQ(m.size(), count);
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(std::as_const(m).get(mixed(i)), (two_words{i, 0}));
    ASSERT_TRUE(std::ranges::is_sorted(std::as_const(m), {}, &item::first));
  };
  expect_all();
  EXPECT_THROW(fill(), out_of_space);
  expect_all();
  std::vector<item> more;
  for (std::uint64_t i = 0; i < 1000; ++i) more.push_back({mixed(count + i), {count + i, 0}});
  std::ranges::sort(more, {}, &item::first);
  EXPECT_THROW(m.insert_many(more), out_of_space);
  for (item const& each : more) m.erase(each.first);
  expect_all();
  for (std::uint64_t const half = count / 2; count > half;) EXPECT_EQ(m.erase(mixed(--count)), 1U);
  for (std::uint64_t const end = count / 4 * 5; count < end; ++count)
    m.insert({mixed(count), {count, 0}});
  expect_all();

  m.clear();
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_THROW(m.build_sorted(items_up_to(100'000)), out_of_space);
  EXPECT_TRUE(m.empty());
  EXPECT_THROW(m.build(items_up_to(100'000)), out_of_space);
  EXPECT_TRUE(m.empty());
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST(maps, find_and_insert_many_at_once) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    scratch::counted_storage disk;
    numbers m(disk.store, tiny);
    std::map<std::uint64_t, two_words> model;
    for (int round = 0; round < 5; ++round) {
      std::vector<item> some(random() % 500);
      for (item& each : some) each = {random() % 2000, {random(), 0}};
      std::uint64_t const before = model.size();
      for (item const& each : some) model.insert({each.first, each.second});
      EXPECT_EQ(m.insert_many(some), model.size() - before);
      std::vector<std::uint64_t> keys(300);
      for (auto& key : keys) key = random() % 2000;
      std::vector<std::optional<two_words>> found(keys.size(), two_words{});
      m.find_many(keys, found);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        auto const place = model.find(keys[i]);
        ASSERT_EQ(found[i].has_value(), place != model.end());
        if (found[i]) {
          ASSERT_EQ(*found[i], place->second);
        }
      }
    }
    EXPECT_EQ(m.size(), model.size());
  }
}

template <typename Ours, typename Model>
void compare_erasing_many(std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  quick_storage disk;
  Ours m(disk.store, tiny);
  Model model;
  auto const same = [](auto const& a, auto const& b) { return as_model<Model, Ours>(a) == b; };
  for (int round = 0; round < 20; ++round) {
    std::vector<item> some(random() % 300);
    for (item& each : some) each = {random() % 1000, {random(), 0}};
    for (item const& each : some) model.insert({each.first, each.second});
    m.insert_many(some);
    auto const kept = model.empty() ? model.end() : model.lower_bound(random() % 500);
    auto const kept_by_us =
        kept == model.end() ? std::as_const(m).end() : std::as_const(m).lower_bound(kept->first);
    std::vector<std::uint64_t> keys(random() % 400);  // now and then all that are there
    for (auto& key : keys) key = round % 7 == 6 ? random() % 1000 : random() % 400;
    if (kept != model.end()) std::erase(keys, kept->first);
    std::uint64_t const before = model.size();
    for (auto const key : keys) model.erase(key);
    EXPECT_EQ(m.erase_many(keys), before - model.size());
    ASSERT_TRUE(std::ranges::equal(std::as_const(m), model, same));
    if (kept != model.end()) {
      EXPECT_TRUE(same(*kept_by_us, *kept)) << "it followed its entry";
    }
  }
  std::vector<std::uint64_t> all;
  for (auto const& [key, value] : model) all.push_back(key);
  EXPECT_EQ(m.erase_many(all), model.size());
  EXPECT_TRUE(m.empty());
  EXPECT_EQ(disk.store.allocated_bytes(), 0U);
  EXPECT_EQ(m.erase_many(all), 0U);
}

TEST(maps, erase_many_at_once) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    compare_erasing_many<numbers, std::map<std::uint64_t, two_words>>(seed);
    compare_erasing_many<multimap<std::uint64_t, two_words>,
                         std::multimap<std::uint64_t, two_words>>(seed);
  }
}

/// Leaves of so many entries, of which the cache has room for 40; nodes that are all in memory.
map_options options_of_pages(std::size_t entries) {
  return {.leaf_bytes = 24 + entries * sizeof(item),
          .leaf_cache_bytes = 40 * (24 + entries * sizeof(item)),
          .node_cache_bytes = 1_MiB,
          .spare_leaves = 4};
}

TEST(maps, cost_what_they_say) {
  scratch::counted_storage disk;
  constexpr std::uint64_t leaves = 100;
  numbers m(disk.store, tiny);
  std::uint64_t const writes = disk.writes();
  m.build_sorted(items_up_to(5 * leaves));  // five entries in each leaf, five children in a node
  m.flush();
  EXPECT_EQ(disk.writes() - writes, leaves / 4 + 20 + 4 + 1) << "four leaves at once, each node";
  {
    std::uint64_t const reads = m.leaf_cache_counts().misses + m.leaf_cache_counts().prefetches;
    std::uint64_t sum = 0;
    for (auto const [key, value] : std::as_const(m)) sum += key;
    EXPECT_EQ(sum, 5 * leaves * (5 * leaves - 1) / 2);
    auto const counts = m.leaf_cache_counts();
    EXPECT_LE(counts.misses + counts.prefetches - reads, leaves);
    EXPECT_GE(counts.misses + counts.prefetches - reads, leaves - 8) << "those in the cache";
  }
  {
    std::uint64_t const before = disk.reads();
    for (std::uint64_t i = 0; i < leaves; ++i)  // of leaves far from each other
      EXPECT_TRUE(m.contains(5 * (i * 37 % leaves)));
    EXPECT_LE(disk.reads() - before, leaves * 3) << "a leaf and two nodes below the root";
  }
  {
    auto const before = m.leaf_cache_counts();
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 5 * leaves; ++i) keys.push_back(i * 77 % (5 * leaves));
    std::size_t found = 0;
    m.find_many(keys, [&](std::size_t, item const&) { ++found; });
    EXPECT_EQ(found, keys.size());
    auto const after = m.leaf_cache_counts();
    EXPECT_LE(after.misses + after.prefetches - before.misses - before.prefetches, leaves);
    EXPECT_EQ(after.write_backs, before.write_backs) << "const access changes nothing";
  }
}

TEST(maps, cost_a_leaf_to_read_and_to_write_for_an_insertion_anywhere) {
  constexpr std::uint64_t stored = 40'000, added = 4'000, in_a_leaf = 100;
  std::size_t const leaf_bytes = options_of_pages(in_a_leaf).leaf_bytes;
  for (double const fill : {1.0, 0.7}) {
    scratch::counted_storage disk(4_MiB);
    numbers m(disk.store, options_of_pages(in_a_leaf));
    m.build_sorted(items_up_to(stored, 10), fill);
    m.flush();
    std::uint64_t const reads = disk.reads(), writes = disk.tally->writes().bytes;
    std::mt19937_64 random(1);
    for (std::uint64_t i = 0; i < added; ++i) m.insert({random() % stored * 10 + 5, {}});
    m.flush();
    // Each of the leaves that were full is split once, which takes two leaves more and now and then
    // a neighbour; all nodes are in memory.
    std::uint64_t const split = fill == 1.0 ? stored / in_a_leaf : 0;
    EXPECT_LE(disk.reads() - reads, added + split);
    EXPECT_LE(disk.tally->writes().bytes - writes, (added + 3 * split) * leaf_bytes + 100'000);
    EXPECT_GE(disk.reads() - reads, added / 2) << "few leaves are in memory";
  }
}

TEST(maps, read_and_write_each_leaf_of_a_batch_once) {
  constexpr std::uint64_t stored = 40'000, in_a_leaf = 100, leaves = stored / in_a_leaf + 1;
  std::size_t const leaf_bytes = options_of_pages(in_a_leaf).leaf_bytes;
  scratch::counted_storage disk(4_MiB);
  numbers m(disk.store, options_of_pages(in_a_leaf));
  m.build_sorted(items_up_to(stored, 10), 0.9);
  m.flush();
  std::vector<item> added;
  for (std::uint64_t i = 0; i < stored / 20; ++i) added.push_back({i * 7919 % stored * 10 + 5, {}});
  std::uint64_t reads = disk.reads(), bytes = disk.tally->writes().bytes;
  auto const cost_of = [&](auto const& batch) {
    batch();
    m.flush();
    EXPECT_LE(disk.reads() - reads, leaves * 10 / 9 + 1);
    EXPECT_LE(disk.tally->writes().bytes - bytes, (leaves * 10 / 9 + 1) * leaf_bytes + 100'000);
    EXPECT_GE(disk.reads() - reads, leaves / 2) << "few leaves are in memory";
    reads = disk.reads();
    bytes = disk.tally->writes().bytes;
  };
  cost_of([&] { EXPECT_EQ(m.insert_many(added), added.size()); });
  std::vector<std::uint64_t> keys;
  for (auto const& each : added) keys.push_back(each.first);
  cost_of([&] { EXPECT_EQ(m.erase_many(keys), keys.size()); });
  EXPECT_EQ(m.size(), stored);
}

TEST(maps, read_leaves_of_large_batches_by_long_requests) {
  constexpr std::uint64_t stored = 40'000, in_a_leaf = 100, leaves = stored / in_a_leaf;
  scratch::counted_storage disk(4_MiB);
  auto options = options_of_pages(in_a_leaf);
  options.read_ahead_bytes = 16 * 20 * options.leaf_bytes;  // runs of some forty leaves
  numbers m(disk.store, options);
  m.build_sorted(items_up_to(stored, 10), 0.9);
  m.flush();
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < stored; i += 2 * in_a_leaf) keys.push_back(i * 10);  // half of them
  std::ranges::shuffle(keys, std::mt19937_64(1));
  std::uint64_t const reads = disk.reads();
  std::size_t found = 0;
  m.find_many(keys, [&](std::size_t i, item const& each) {
    EXPECT_EQ(each.first, keys[i]);
    ++found;
  });
  EXPECT_EQ(found, keys.size());
  EXPECT_LE(disk.reads() - reads, leaves / 20);
  std::vector<item> added;
  for (auto const key : keys) added.push_back({key + 5, {key, key}});
  std::uint64_t const before = disk.reads();
  EXPECT_EQ(m.insert_many(added), added.size());
  EXPECT_LE(disk.reads() - before, leaves / 20);
  EXPECT_EQ(m.erase_many(keys), keys.size());
  for (auto const& each : added) EXPECT_EQ(std::as_const(m).at(each.first), each.second);
  EXPECT_EQ(m.size(), stored);
}

TEST(maps, are_sound_when_disks_fail_in_a_batch) {
  for (std::uint64_t seed = 1; seed <= scratch::operations(20U); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    quick_storage disk;
    numbers m(disk.store, tiny);
    std::map<std::uint64_t, two_words> model;
    std::uint64_t failures = 0;
    // Done again until it succeeds, a batch does what is left of it.
    auto const insist = [&](auto const& batch) {
      for (;;) {
        auto const where = random() % 2 == 0 ? io::fault_point::read : io::fault_point::write;
        if (random() % 4 != 0)
          disk.plan->script(where, disk.plan->calls(where) + random() % 20, io::fault::fail(EIO));
        try {
          return batch();
        } catch (io_error const&) {
          ++failures;
        }
      }
    };
    for (int round = 0; round < 40; ++round) {
      std::vector<item> some(random() % 100);
      for (item& each : some) each = {random() % 500, {random(), 0}};
      std::ranges::sort(some, {}, &item::first);  // so that the first of equal ones is the same
      some.erase(std::ranges::unique(some, {}, &item::first).begin(), some.end());
      for (item const& each : some) model.insert({each.first, each.second});
      insist([&] { m.insert_many(some); });
      std::vector<std::uint64_t> keys(random() % 100);
      for (auto& key : keys) key = random() % 500;
      for (auto const key : keys) model.erase(key);
      insist([&] { m.erase_many(keys); });
      ASSERT_EQ(m.size(), model.size());
    }
    EXPECT_GT(failures, 5U);
    insist([&] { m.flush(); });
    std::vector<item> left;
    insist([&] {
      left.clear();
      for (auto const& each : std::as_const(m)) left.push_back(each);
    });
    EXPECT_TRUE(std::ranges::equal(left, model, [](auto const& a, auto const& b) {
      return a.first == b.first && a.second == b.second;
    }));
  }
}

TEST(maps, are_as_they_were_when_disks_fail) {
  for (std::uint64_t seed = 1; seed <= scratch::operations(20U); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    quick_storage disk;
    numbers m(disk.store, tiny);
    std::map<std::uint64_t, two_words> model;
    std::uint64_t failures = 0;
    for (int i = 0; i < 3000; ++i) {
      auto const where = random() % 2 == 0 ? io::fault_point::read : io::fault_point::write;
      if (random() % 10 == 0)
        disk.plan->script(where, disk.plan->calls(where) + random() % 3, io::fault::fail(EIO));
      std::uint64_t const key = random() % 500;
      two_words const value{random(), key};
      try {
        if (random() % 3 != 0) {
          EXPECT_EQ(m.insert({key, value}).second, !model.contains(key));
          model.insert({key, value});
        } else {
          EXPECT_EQ(m.erase(key), model.count(key));
          model.erase(key);
        }
      } catch (io_error const&) {
        ++failures;
      }
      ASSERT_EQ(m.size(), model.size());
    }
    EXPECT_GT(failures, 100U);
    for (int tries = 0; tries < 100; ++tries) try {
        m.flush();
        break;
      } catch (io_error const&) {
      }
    auto at = std::as_const(m).begin();
    for (auto const& [key, value] : model) {
      ASSERT_EQ(*at, (item{key, value}));
      ++at;
    }
    EXPECT_TRUE(at == std::as_const(m).end());
  }
}

TEST(maps, are_as_they_were_when_a_comparison_throws) {
  quick_storage disk;
  int until = -1;
  auto const less = [&until](int a, int b) {
    if (until >= 0 && until-- == 0) throw std::runtime_error("no");
    return a < b;
  };
  map<int, int, decltype(less)> m(disk.store, tiny, less);
  std::map<int, int> model;
  std::mt19937_64 random(1);
  int thrown = 0;
  for (int i = 0; i < 3000; ++i) {
    int const key = static_cast<int>(random() % 300);
    until = static_cast<int>(random() % 20);
    try {
      if (random() % 2 == 0) {
        m.insert({key, i});
        model.insert({key, i});
      } else {
        m.erase(key);
        model.erase(key);
      }
    } catch (std::runtime_error const&) {
      ++thrown;
    }
    until = -1;
    ASSERT_EQ(m.size(), model.size());
  }
  EXPECT_GT(thrown, 500);
  EXPECT_TRUE(std::ranges::equal(std::as_const(m), model, [](auto const& a, auto const& b) {
    return a.first == b.first && a.second == b.second;
  }));
}

TEST(maps, give_their_space_and_memory_back) {
  quick_storage disk;
  std::uint64_t const free = disk.store.memory().free_bytes();
  {
    numbers m(disk.store, tiny);
    m.insert_many(items_up_to(1000));
    EXPECT_GT(disk.store.allocated_bytes(), 1000 * sizeof(item));
    m.erase(m.begin(), m.end());
    EXPECT_TRUE(m.empty());
    EXPECT_EQ(disk.store.allocated_bytes(), 0U);
    m.insert_many(items_up_to(1000));
  }
  EXPECT_EQ(disk.store.allocated_bytes(), 0U);
  EXPECT_EQ(disk.store.memory().free_bytes(), free);
}

TEST(maps, outlive_their_iterators_and_the_other_way_round) {
  quick_storage disk;
  numbers::const_iterator left;
  {
    numbers m(disk.store, tiny);
    m.insert_many(items_up_to(100));
    left = std::as_const(m).find(50);
    numbers const moved = std::move(m);
    EXPECT_EQ(left->first, 50U);
    EXPECT_EQ((++left)->first, 51U);
  }
  left = {};
}

/// Leaves of five items, and room for those that iterators look at.
map_options roomy() {
  auto options = tiny;
  options.leaf_cache_bytes = 64 * options.leaf_bytes;
  return options;
}

/// One at each item, and one that has gone past the last.
template <typename Iterator>
std::vector<Iterator> iterators_at_all(Iterator at, Iterator const& end) {
  std::vector<Iterator> all;
  for (; at != end; ++at) {
    EXPECT_EQ(at->first, all.size());
    all.push_back(at);
  }
  all.push_back(at);
  return all;
}

TEST(maps, are_seen_as_they_are_by_iterators_to_what_has_been_replaced) {
  quick_storage disk;
  auto const check = [&](auto const& replace) {
    for (std::uint64_t const count : {1U, 4U, 5U, 6U, 11U, 18U, 23U, 25U}) {
      SCOPED_TRACE(count);
      numbers m(disk.store, items_up_to(25), roomy());
      auto all = iterators_at_all(m.cbegin(), m.cend());
      auto all_that_change = iterators_at_all(m.begin(), m.end());
      auto items = items_up_to(count);
      for (auto& each : items) each.first += 100;
      replace(m, items);
      for (auto& at : all) {
        ASSERT_TRUE(at == m.cend());
        ASSERT_EQ(*--at, items.back());
      }
      for (auto& at : all_that_change) {
        ASSERT_TRUE(at == m.end());
        ASSERT_EQ((--at)->first, items.back().first);
        ASSERT_EQ(at->second, items.back().second);
        for (auto place = items.rbegin() + 1; place != items.rend(); ++place)
          ASSERT_EQ((--at)->second, place->second);
      }
    }
  };
  check([](numbers& m, std::vector<item> const& items) {
    m.clear();
    for (auto const& each : items) m.insert(each);
  });
  check([](numbers& m, std::vector<item> const& items) { m.build(items); });
  check([](numbers& m, std::vector<item> const& items) { m.build_sorted(items); });
}

TEST(maps, are_seen_from_the_end_as_they_are_when_their_last_leaf_has_been_another) {
  quick_storage disk;
  numbers m(disk.store, items_up_to(10), roomy());
  auto at = iterators_at_all(m.cbegin(), m.cend()).back();
  auto at_to_change = iterators_at_all(m.begin(), m.end()).back();
  for (std::uint64_t key = 1; key < 9; ++key) m.erase(key);  // so that both leaves are merged
  for (std::uint64_t key = 10; key < 14; ++key) m.insert({key, {key, key}});  // and there are two
  EXPECT_EQ((*--at), (item{13, {13, 13}}));
  EXPECT_EQ((*--at), (item{12, {12, 12}}));
  EXPECT_EQ((--at_to_change)->first, 13U);
  EXPECT_EQ((--at_to_change)->first, 12U);
}

TEST(maps, are_seen_from_the_end_as_they_are_after_a_step_from_there_has_failed) {
  quick_storage disk;
  bool fails = false;
  auto const less = [&fails](int a, int b) {
    if (fails) throw std::runtime_error("no");
    return a < b;
  };
  map<int, int, decltype(less)> m(disk.store, roomy(), less);
  auto const fill = [&](int value) {
    m.clear();
    for (int key = 0; key < 100; ++key) m.insert({key, value});
  };
  fill(1);
  auto at = m.cend();
  for (int i = 0; i < 40; ++i) --at;  // in a direction in which it reads ahead
  fill(2);
  fails = true;
  EXPECT_THROW(--at, std::runtime_error);
  fails = false;
  EXPECT_TRUE(at == m.cend());
  fill(3);
  EXPECT_EQ((--at)->second, 3);
}

struct alignas(64) wide_key {
  std::uint64_t number = 0;
  friend bool operator==(wide_key const&, wide_key const&) = default;
};

/// Of what lies where compilers need not look whether it does.
bool is_aligned(wide_key const& key) {
  std::uintptr_t const volatile address = reinterpret_cast<std::uintptr_t>(&key);
  return address % alignof(wide_key) == 0;
}

TEST(maps, have_keys_where_their_alignment_asks_for_it) {
  quick_storage disk;
  std::uint64_t misplaced = 0;
  auto const less = [&misplaced](wide_key const& a, wide_key const& b) {
    misplaced += !is_aligned(a);
    misplaced += !is_aligned(b);
    return a.number < b.number;
  };
  using wide_map = map<wide_key, std::uint64_t, decltype(less)>;
  auto options = tiny;
  options.leaf_bytes = 700;  // which is no multiple of the alignment
  options.read_ahead_bytes = 8 * 4 * 704;
  wide_map m(disk.store, options, less);
  for (std::uint64_t i = 0; i < 2000; ++i) m.insert({{mixed(i) % 5000}, i});
  EXPECT_EQ(misplaced, 0U);

  std::vector<wide_map::const_iterator> live;  // far more than can have their leaves pinned
  for (auto at = m.cbegin(); at != m.cend(); ++at) live.push_back(at);
  auto const use = [&] {
    for (auto const& at : live)
      EXPECT_EQ(std::as_const(m).get(at->first), at->second) << at->first.number;
    std::vector<wide_key> keys;
    for (auto in = m.forward(); !in.empty(); in.skip(in.pull().size()))
      for (auto const& each : in.pull()) {
        misplaced += !is_aligned(each.first);
        keys.push_back(each.first);
      }
    EXPECT_EQ(keys.size(), m.size());
    std::size_t found = 0;
    m.find_many(keys, [&](std::size_t i, auto const& each) {
      misplaced += !is_aligned(each.first);
      EXPECT_EQ(each.first, keys[i]);
      ++found;
    });
    EXPECT_EQ(found, keys.size());
    for (auto const& key : keys) {
      misplaced += !is_aligned(m.find(key)->first);
      EXPECT_TRUE(m.lower_bound(key) == m.find(key));
      auto at = std::as_const(m).upper_bound(key);
      EXPECT_EQ((--at)->first, key);
    }
  };
  use();
  EXPECT_EQ(misplaced, 0U);
  for (std::uint64_t i = 0; i < 200; ++i) {
    m.erase(live.back());
    live.pop_back();
  }
  EXPECT_EQ(misplaced, 0U);

  std::vector<wide_map::value_type> content;
  for (std::uint64_t i = 0; i < 2000; ++i) content.push_back({{i}, i});
  m.build_sorted(content);
  live.clear();
  for (auto at = m.cbegin(); at != m.cend(); ++at) live.push_back(at);
  use();
  std::ranges::reverse(content);
  m.build(content);
  EXPECT_EQ(m.size(), content.size());
  EXPECT_EQ(misplaced, 0U);
}

TEST(map_death_test, notices_changes_through_references_that_have_ended) {
  if (!detail::heavy_assertions) GTEST_SKIP() << "checked in debug builds only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the storage has threads
  quick_storage disk;
  numbers m(disk.store, items_up_to(1000), roomy());
  auto const misuse = [&] {
    auto& old = m.at(0);
    for (std::uint64_t key = 10; key <= 10 * m.live_leaves(); key += 10) m.at(key).a = key;
    old.a = 5;  // its leaf is still in the cache, but no longer live
    m.at(0).a = 0;
  };
  EXPECT_DEATH(misuse(), "is_as_sealed|use-after-poison");
}

}  // namespace
}  // namespace outsize
