// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Memory that cannot be given back, or cannot be had: a page that cannot be written stays, and who
// asked is told; budgets that are too small for one object, figures that do not fit together, and
// objects made where another one is at work, are refused by name, and nothing is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using testing::HasSubstr;

constexpr number mixed(number i) noexcept { return (i + 1) * 0x9e3779b97f4a7c15ULL; }

/// Whose writes fail as long as they are told to.
struct memory_faults : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("faulty",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::faulty_file>(
                                              io::make_memory_file("faulty", 256_MiB), plan);
                                        })},
                 .memory_bytes = 8_MiB,
                 .threads = 1}};

  /// Asks for all that can be had while writes fail, until somebody would have to write.
  void ask_in_vain() {
    plan->fail_from_now_on(io::fault_point::write, EIO);
    std::vector<grant> taken;
    std::uint64_t const all = store.memory().obtainable_bytes();
    EXPECT_THROW(taken.push_back(store.memory().take(all, "others")), io_error);
    plan->end_script();
  }
  /// And now all of it.
  void ask_again() {
    grant const all = store.memory().take(store.memory().obtainable_bytes(), "others");
    EXPECT_GT(all.total_bytes(), 0U);
  }
};

TEST_F(memory_faults, leave_the_pages_of_a_vector) {
  vector<number> v(store);
  for (number i = 0; i < 100'000; ++i) v.push_back(mixed(i));
  ask_in_vain();
  for (number i = 0; i < v.size(); ++i) ASSERT_EQ(std::as_const(v)[i], mixed(i));
  for (number i = 0; i < v.size(); i += 100) v[i] = i;
  ask_in_vain();
  ask_again();
  for (number i = 0; i < v.size(); ++i) ASSERT_EQ(std::as_const(v)[i], i % 100 == 0 ? i : mixed(i));
}

TEST_F(memory_faults, leave_the_leaves_of_a_map) {
  map<number, number> m(store);
  for (number i = 0; i < 30'000; ++i) m.insert({mixed(i), i});
  ask_in_vain();
  for (number i = 0; i < 30'000; ++i) ASSERT_EQ(m.at(mixed(i)), i);
  for (number i = 0; i < 30'000; i += 10) m.erase(mixed(i));
  ask_in_vain();
  ask_again();
  for (number i = 0; i < 30'000; ++i) ASSERT_EQ(m.contains(mixed(i)), i % 10 != 0);
}

TEST_F(memory_faults, leave_what_waits_in_an_unordered_map) {
  unordered_map<number, number> u(store);
  for (number i = 0; i < 30'000; ++i) u.insert_oblivious({mixed(i), i});
  for (number i = 0; i < 30'000; i += 3) u.erase_oblivious(mixed(i));
  ask_in_vain();
  ask_again();
  for (number i = 0; i < 30'000; ++i) ASSERT_EQ(u.contains(mixed(i)), i % 3 != 0);
}

TEST_F(memory_faults, leave_what_stayed_in_the_memory_of_a_sorter) {
  sorter<number> s(store);
  for (number i = 0; i < 200'000; ++i) s.push(mixed(i));
  s.sort();
  for (int at : {1'000, 50'000}) {
    for (; at > 0; --at, ++s) ASSERT_FALSE(s.empty());
    plan->fail_from_now_on(io::fault_point::write, EIO);
    EXPECT_THROW(store.memory().take(7_MiB, "others"), io_error);
    plan->end_script();
  }
  grant const others = store.memory().take(7_MiB, "others");
  number last = 0, seen = 51'000;
  for (; !s.empty(); ++s, ++seen) {
    ASSERT_LE(last, *s);
    last = *s;
  }
  EXPECT_EQ(seen, 200'000U);
  s.rewind();
  number sum = 0;
  for (; !s.empty(); ++s) sum += *s;
  for (number i = 0; i < 200'000; ++i) sum -= mixed(i);
  EXPECT_EQ(sum, 0U);
}

// ---- what cannot be ----

storage small_storage(std::uint64_t memory_bytes) {
  return storage({.disks = {disk_options("disk",
                                         [](io::request_queue&) -> io::file_ptr {
                                           return io::make_memory_file("disk", 64_MiB);
                                         })},
                  .memory_bytes = memory_bytes,
                  .threads = 1});
}

TEST(memory_refusal, of_one_object_that_never_fits_is_when_it_is_made) {
  storage store = small_storage(100_KiB);
  EXPECT_THROW((map<number, number>(store)), budget_error);
  EXPECT_THROW((unordered_map<number, number>(store, {.page_bytes = 16_KiB})), budget_error);
  EXPECT_THROW(vector<number>(store, {.page_bytes = 64_KiB}), budget_error);
  sorter<number> s(store);
  EXPECT_THROW(s.push(1), budget_error);
}

TEST(memory_refusal, of_figures_that_do_not_fit_together_names_who_has_them) {
  storage store = small_storage(4_MiB);
  vector<number> first(store, {.page_bytes = 64_KiB, .cache_pages = 30, .spare_pages = 10});
  try {
    vector<number> const second(store, {.page_bytes = 64_KiB, .cache_pages = 30});
    FAIL() << "was made";
  } catch (budget_error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("vector: the memory budget has 1.50 MiB left"));
    EXPECT_THAT(error.what(), HasSubstr("vector has 2.50 MiB and needs 2.50 MiB"));
  }
  EXPECT_THROW(sorter<number>(store, {}, {.memory_bytes = 3_MiB}), budget_error);
  first.push_back(7);  // nothing has happened to it
  EXPECT_EQ(first[0], 7U);
}

TEST(memory_refusal, of_all_says_which_budget_would_do_and_that_does) {
  auto const fill = [](std::uint64_t memory_bytes) {
    storage store = small_storage(memory_bytes);
    std::vector<vector<number>> all;
    for (int i = 0; i < 12; ++i) {
      all.emplace_back(store, page_options{.page_bytes = 32_KiB});
      all.back().push_back(1);
    }
  };
  std::uint64_t enough = 1_MiB;
  for (int tries = 0; tries < 16; ++tries) try {
      fill(enough);
      SUCCEED();
      return;
    } catch (budget_error const& error) {
      std::uint64_t const missing = error.need_bytes() - error.have_bytes();
      ASSERT_GT(missing, 0U);
      enough += missing + 4_KiB;
    }
  FAIL() << "there is never enough";
}

/// Makes a container of the same storage while a map compares.
struct order_that_makes_things {
  storage* store;
  int* made;
  bool operator()(number a, number b) const {
    if (a % 997 == 0 && *made < 20) {
      ++*made;
      vector<number> v(*store);
      v.push_back(a);
      sorter<number> s(*store);
      s.push(b);
    }
    return a < b;
  }
};

TEST(memory_refusal, does_not_hang_who_asks_inside_of_an_order) {
  storage store = small_storage(2_MiB);
  int made = 0;
  map<number, number, order_that_makes_things> m(store, map_options(),
                                                 order_that_makes_things{&store, &made});
  number refused = 0;
  for (number i = 0; i < 20'000; ++i) try {
      m.insert({i, i});
    } catch (budget_error const&) {
      ++refused;
    }
  EXPECT_GT(made, 0);
  for (number i = 1; i < 900; ++i) ASSERT_TRUE(m.contains(i));
  EXPECT_EQ(m.size() + refused, 20'000U);
}

}  // namespace
}  // namespace outsize
