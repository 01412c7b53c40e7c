// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Containers that are built from many items at once in place of what they held: that is there until
// the new content is complete, and afterwards too if anything fails, on disks and in files.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/nth_element.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/shuffle.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/small_stack.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using contents = std::vector<std::pair<number, number>>;

struct no_more_input : std::runtime_error {
  no_more_input() : std::runtime_error("no more input") {}
};

template <typename Container>
constexpr bool is_hashed = false;
template <>
constexpr bool is_hashed<unordered_map<number, number>> = true;

template <typename Container>
typename Container::value_type entry_of(number key, number value) {
  if constexpr (std::is_same_v<typename Container::value_type, number>)
    return key;
  else
    return {key, value};
}

/// A container of one kind on a disk, and one in a file.
template <typename Container>
struct bulk_construction : testing::Test {
  using entries = std::vector<typename Container::value_type>;

  std::uint64_t capacity = 64_MiB;
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("memory",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::faulty_file>(
                                              io::make_memory_file("memory", capacity), plan);
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};

  static auto options() {
    if constexpr (is_hashed<Container>)
      return unordered_map_options{
          .page_bytes = 256, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 4096};
    else
      return map_options{.leaf_bytes = 144,
                         .node_bytes = 100,
                         .leaf_cache_bytes = 1,
                         .node_cache_bytes = 1,
                         .spare_leaves = 2,
                         .read_ahead_bytes = 8 * 4 * 144};
  }
  Container on_disk() { return Container(store, options()); }
  Container in_file(io::file_ptr file) {
    if constexpr (is_hashed<Container>)
      return Container::create(std::move(file), store, options());
    else
      return Container::create(store, std::move(file), options());
  }
  Container opened(io::file_ptr file) {
    if constexpr (is_hashed<Container>)
      return Container::open(std::move(file), store, io::access::read_only, options());
    else
      return Container::open(store, std::move(file), io::access::read_only, options());
  }

  /// Some of the reads may fail.
  static contents content(Container const& of) {
    for (;;) try {
        contents found;
        for (auto const& each : of)
          if constexpr (std::is_same_v<typename Container::value_type, number>)
            found.emplace_back(each, 0);
          else
            found.emplace_back(each.first, each.second);
        std::ranges::sort(found);
        return found;
      } catch (io_error const&) {
      }
  }
  /// Keys that are multiples of `stride`, in order.
  static entries sorted(number count, number stride) {
    entries made;
    for (number i = 0; i < count; ++i) made.push_back(entry_of<Container>(i * stride, i));
    return made;
  }
  static contents expected(number count, number stride) {
    contents made;
    bool constexpr is_set = std::is_same_v<typename Container::value_type, number>;
    for (number i = 0; i < count; ++i) made.emplace_back(i * stride, is_set ? 0 : i);
    return made;
  }
  /// Multiples of 3 and more changes, some of which wait, if they can.
  static void fill(Container& c, number count) {
    for (number i = 0; i < count; ++i) c.insert(entry_of<Container>(i * 3, i));
    if constexpr (is_hashed<Container>) {
      c.insert_oblivious({1, 0});
      c.erase_oblivious(1);
      c.insert_oblivious({(count - 1) * 3, count - 1});
    }
  }

  /// By each of the functions that there are.
  template <typename Build>
  static void by_each_way(Build const& build) {
    build([](Container& c, auto&& in) { c.build(in); });
    if constexpr (!is_hashed<Container>) build([](Container& c, auto&& in) { c.build_sorted(in); });
  }
};

// One of each kind of key and of value: maps and sets are one template.
using kinds = testing::Types<map<number, number>, multiset<number>, unordered_map<number, number>>;
TYPED_TEST_SUITE(bulk_construction, kinds);

TYPED_TEST(bulk_construction, replaces_what_was_there_and_gives_its_space_back) {
  this->by_each_way([&](auto const& build) {
    for (number const count : {0U, 1U, 7U, 1000U}) {
      auto fresh = this->on_disk();
      build(fresh, this->sorted(count, 5));
      fresh.flush();
      auto const bytes = this->store.allocated_bytes();
      auto c = this->on_disk();
      this->fill(c, 500);
      build(c, this->sorted(count, 5));
      c.flush();
      EXPECT_EQ(c.size(), count);
      EXPECT_EQ(this->content(c), this->expected(count, 5));
      EXPECT_EQ(this->store.allocated_bytes(), 2 * bytes);
      this->fill(c, 100);  // it can be changed as any other
      c.erase(0);
      EXPECT_EQ(c.begin() == c.end(), false);
    }
    EXPECT_EQ(this->store.allocated_bytes(), 0U);
  });
}

TYPED_TEST(bulk_construction, may_sort_what_is_there) {
  auto c = this->on_disk();
  this->fill(c, 500);
  c.build(std::as_const(c));
  EXPECT_EQ(this->content(c), this->expected(500, 3));
}

TYPED_TEST(bulk_construction, leaves_all_as_it_was_if_its_input_throws) {
  this->by_each_way([&](auto const& build) {
    auto c = this->on_disk();
    this->fill(c, 500);
    c.flush();
    auto const first = std::as_const(c).begin();
    auto const first_entry = *first;
    auto const bytes = this->store.allocated_bytes();
    for (number const until : {0U, 1U, 100U, 999U}) {
      auto const input =
          std::views::iota(number{0}, number{1000}) | std::views::transform([&](number i) {
            if (i == until) throw no_more_input();
            return entry_of<TypeParam>(i, i);
          });
      EXPECT_THROW(build(c, input), no_more_input);
      ASSERT_EQ(this->content(c), this->expected(500, 3));
      EXPECT_EQ(*first, first_entry);
      EXPECT_EQ(this->store.allocated_bytes(), bytes);
    }
    build(c, this->sorted(100, 1));
    EXPECT_EQ(this->content(c), this->expected(100, 1));
  });
}

TYPED_TEST(bulk_construction, leaves_all_as_it_was_if_its_input_is_not_sorted) {
  if constexpr (!is_hashed<TypeParam>) {
    auto c = this->on_disk();
    this->fill(c, 200);
    for (std::size_t const wrong : {1U, 100U, 299U}) {
      auto input = this->sorted(300, 2);
      std::swap(input[wrong], input[wrong - 1]);
      EXPECT_THROW(c.build_sorted(input), format_error);
      ASSERT_EQ(this->content(c), this->expected(200, 3));
    }
  }
}

TYPED_TEST(bulk_construction, leaves_all_as_it_was_on_a_full_disk) {
  this->capacity = 32_KiB;
  this->by_each_way([&](auto const& build) {
    auto c = this->on_disk();
    this->fill(c, 400);
    c.flush();
    auto const bytes = this->store.allocated_bytes();
    for (number const count : {4000U, 3500U, 10'000U}) {
      EXPECT_THROW(build(c, this->sorted(count, 1)), out_of_space);
      ASSERT_EQ(this->content(c), this->expected(400, 3));
      EXPECT_EQ(this->store.allocated_bytes(), bytes);
    }
    build(c, this->sorted(200, 1));
    EXPECT_EQ(this->content(c), this->expected(200, 1));
  });
}

TYPED_TEST(bulk_construction, leaves_all_as_it_was_whichever_access_fails) {
  this->by_each_way([&](auto const& build) {
    for (auto const where : {io::fault_point::write, io::fault_point::read}) {
      int failures = 0;
      for (number k = 0;; k += 1 + k / 4) {
        SCOPED_TRACE(testing::Message() << "access " << k);
        auto c = this->on_disk();
        this->fill(c, 300);
        number const at = this->plan->calls(where) + k;
        this->plan->script(where, at, io::fault::fail(EIO));
        try {
          build(c, this->sorted(400, 2));
          if (this->plan->calls(where) <= at) break;
        } catch (io_error const&) {
          ++failures;
          ASSERT_EQ(this->content(c), this->expected(300, 3));
          build(c, this->sorted(400, 2));
        }
        ASSERT_EQ(this->content(c), this->expected(400, 2));
      }
      EXPECT_TRUE(failures > 3 || where == io::fault_point::read);
    }
  });
}

TYPED_TEST(bulk_construction, leaves_files_as_they_were_flushed_until_the_next_flush) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const journal = std::make_shared<scratch::file_journal>();
  auto const faults = std::make_shared<io::fault_plan>();
  auto c = this->in_file(
      std::make_unique<io::faulty_file>(std::make_unique<scratch::crashing_file>(journal), faults));
  this->fill(c, 300);
  c.flush();
  auto const flushed = journal->size();
  c.insert(entry_of<TypeParam>(300 * 3, 300));  // only in memory
  int failures = 0;
  auto const persist = [&](auto const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failures;
      }
  };
  this->by_each_way([&](auto const& build) {
    constexpr std::array points{io::fault_point::write, io::fault_point::allocate};
    for (number k = 0; k < 40; k += 1 + k / 4) {
      auto const where = points[k % 2];
      faults->script(where, faults->calls(where) + k / 2, io::fault::fail(EIO));
      bool const input_fails = k % 3 == 0;
      auto const given = this->sorted(600, 2);
      auto const input = given | std::views::transform([&](auto const& each) {
                           if (input_fails && &each == &given.back()) throw no_more_input();
                           return each;
                         });
      try {
        build(c, input);
        EXPECT_FALSE(input_fails);
        persist([&] { c.build(this->sorted(301, 3)); });
      } catch (no_more_input const&) {
      } catch (io_error const&) {
        ++failures;
      }
      ASSERT_EQ(this->content(c), this->expected(301, 3));
    }
  });
  EXPECT_GT(failures, 3);
  for (std::size_t steps = flushed; steps <= journal->size(); steps += 1 + random() % 10)
    ASSERT_EQ(this->content(this->opened(journal->file_after(steps, random))),
              this->expected(300, 3));
  persist([&] { c.build(this->sorted(500, 7)); });
  auto const built = journal->size();
  persist([&] { c.flush(); });
  for (std::size_t steps = built; steps <= journal->size(); ++steps) {
    auto const survivor = this->content(this->opened(journal->file_after(steps, random)));
    ASSERT_TRUE(survivor == this->expected(300, 3) || survivor == this->expected(500, 7));
  }
  c.close();
  auto const last = this->opened(journal->file_after(journal->size(), random));
  EXPECT_TRUE(last.was_closed());
  EXPECT_EQ(this->content(last), this->expected(500, 7));
}

TYPED_TEST(bulk_construction, changes_no_file_that_may_only_be_read) {
  auto const journal = std::make_shared<scratch::file_journal>();
  std::mt19937_64 random(1);
  {
    auto c = this->in_file(std::make_unique<scratch::crashing_file>(journal));
    this->fill(c, 50);
  }
  auto c = this->opened(journal->file_after(journal->size(), random));
  this->by_each_way([&](auto const& build) {
    EXPECT_THROW(build(c, this->sorted(10, 1)), io_error);
    EXPECT_EQ(this->content(c), this->expected(50, 3));
  });
}

template <std::size_t bytes>
struct long_item {
  number key;
  std::array<std::byte, bytes - sizeof(number)> rest;
  friend bool operator<(long_item const& a, long_item const& b) { return a.key < b.key; }
};

/// What goes over items that are not in memory side by side: a list, and a view that makes them.
template <std::size_t bytes>
void go_over_long_items() {
  using item = long_item<bytes>;
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 1_GiB);
                                        })},
                 .memory_bytes = 64_MiB,
                 .threads = 1});
  std::list<item> list;
  for (number key = 0; key < 70; ++key) {
    list.emplace_back();
    list.back().key = key;
  }
  auto const by_key = by(&item::key);
  EXPECT_TRUE(is_sorted(store, list, by_key));
  std::vector<item> first;
  top_k(store, list, std::back_inserter(first), 3, by_key, {.memory_bytes = 48_MiB});
  EXPECT_EQ(first[2].key, 2U);
  EXPECT_EQ(nth_element(store, list, 5, by_key, {.memory_bytes = 48_MiB}).key, 5U);
  outsize::vector<item> v(store, list, {.cache_pages = 4, .spare_pages = 1});
  EXPECT_EQ(std::as_const(v).size(), 70U);
  shuffle(v, std::mt19937_64(1), {.memory_bytes = 48_MiB});
  v.clear();
  outsize::map<number, item> m(store);
  m.build_sorted(list | std::views::transform([](item const& one) {
                   return map_item<number, item>{one.key, one};
                 }));
  EXPECT_EQ(m.size(), 70U);
}

// A buffer there must not grow with the items.
TEST(bulk_construction, of_long_items_needs_no_long_stack) {
  scratch::on_small_stack(256_KiB, go_over_long_items<8_KiB>);
  scratch::on_small_stack(2_MiB, go_over_long_items<128_KiB>);
}

}  // namespace
}  // namespace outsize
