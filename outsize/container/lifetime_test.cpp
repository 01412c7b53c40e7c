// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// It is a mistake that is named to use what was moved from or closed, and to let something outlive
// what it lives in. It is none to use the default storage until the process ends.

#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/matrix.hpp>
#include <outsize/container/migrating_stack.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/page_pool.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;

storage_options in_memory() {
  return {.disks = {disk_options("memory",
                                 [](io::request_queue&) -> io::file_ptr {
                                   return io::make_memory_file("memory", 64_MiB);
                                 })},
          .memory_bytes = 8_MiB,
          .threads = 1};
}

page_options const small{.page_bytes = 64, .cache_pages = 4};

// How each is made, and used.

template <typename Container>
struct of_pages {
  static Container make(storage& store) { return Container(store, small); }
  static void use(Container const& c) { std::ignore = c.size(); }
};
template <typename Container>
struct of_leaves {
  static Container make(storage& store) { return Container(store); }
  static void use(Container const& c) { std::ignore = c.empty(); }
};
struct migrating {
  static migrating_stack<number> make(storage& store) { return {store, 10}; }
  static void use(migrating_stack<number>& c) { c.push(1); }
};
struct a_matrix {
  static matrix<double> make(storage& store) { return {page_pool(store, small), 4, 4}; }
  static void use(matrix<double> const& c) { std::ignore = c.rows(); }
};
struct a_priority_queue {
  /// With items enough for a core, as there is nothing of it in the storage before.
  static priority_queue<number> make(storage& store) {
    priority_queue<number> q(store);
    for (number i = 0; i < 3000; ++i) q.push(i);
    return q;
  }
  static void use(priority_queue<number> const& q) { std::ignore = q.size(); }
};
struct a_pool {
  static page_pool make(storage& store) { return page_pool(store, small); }
  static void use(page_pool const& c) { std::ignore = c.page_bytes(); }
};
template <typename Sorter>
struct a_sorter {
  /// With an item, as there is nothing of it in the storage before.
  static Sorter make(storage& store) {
    Sorter s(store);
    if constexpr (std::same_as<Sorter, sorter<number>>)
      s.push(1);
    else
      s.push("1");
    return s;
  }
  static void use(Sorter const& c) { std::ignore = c.size(); }
};

template <typename How>
struct lifetime_death_test : testing::Test {};
using all_kinds =
    testing::Types<of_pages<vector<number>>, of_pages<deque<number>>, of_pages<stack<number>>,
                   of_pages<queue<number>>, of_pages<sequence<number>>,
                   of_leaves<map<number, number>>, of_leaves<set<number>>,
                   of_leaves<unordered_map<number, number>>, migrating, a_matrix, a_pool,
                   a_priority_queue, a_sorter<sorter<number>>, a_sorter<record_sorter<>>>;
TYPED_TEST_SUITE(lifetime_death_test, all_kinds);

TYPED_TEST(lifetime_death_test, ends_where_it_is_moved_from) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // OpenBLAS has threads
  auto const misuse = [] {
    storage store(in_memory());
    auto from = TypeParam::make(store);
    auto const to = std::move(from);
    TypeParam::use(from);
  };
  EXPECT_DEATH(misuse(), "moved from");
  storage store(in_memory());
  auto from = TypeParam::make(store);
  auto to = std::move(from);
  from = std::move(to);
  TypeParam::use(from);
}

TYPED_TEST(lifetime_death_test, does_not_outlive_its_storage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const misuse = [] {
    auto store = std::make_unique<storage>(in_memory());
    auto const lives_in_it = TypeParam::make(*store);
    store.reset();
  };
  EXPECT_DEATH(misuse(), "a storage goes before a container, sorter or stream that lives in it");
}

TEST(closed_container_death_test, is_not_used) {
  GTEST_FLAG_SET(death_test_style, "fast");
  scratch::directory const dir;  // cleans up behind those that die
  int files = 0;
  auto const misuse = [&](auto make) {
    storage store(in_memory());
    auto c = make(dir.path(std::to_string(files)), store);
    c.close();
    std::ignore = c.empty();
  };
  using pairs = map<number, number>;
  using hashed = unordered_map<number, number>;
  EXPECT_DEATH(misuse([](auto const& at, auto& s) { return vector<number>::create_plain(at, s); }),
               "closed");
  ++files;
  EXPECT_DEATH(misuse([](auto const& at, auto& s) { return vector<number>::create(at, s); }),
               "closed");
  ++files;
  EXPECT_DEATH(misuse([](auto const& at, auto& s) { return pairs::create(at, s); }), "closed");
  ++files;
  EXPECT_DEATH(misuse([](auto const& at, auto& s) { return hashed::create(at, s); }), "closed");
}

TEST(lifetimes, of_pools_may_end_before_those_of_their_containers) {
  storage store(in_memory());
  auto pool = std::make_unique<page_pool>(store, small);
  stack<number> s(*pool);
  migrating_stack<number> m(*pool, 10);
  pool.reset();
  for (number i = 0; i < 1000; ++i) {
    s.push(i);
    m.push(i);
  }
  EXPECT_FALSE(m.is_in_memory());
  for (number i = 1000; i-- > 0; s.pop(), m.pop()) {
    ASSERT_EQ(s.top(), i);
    ASSERT_EQ(m.top(), i);
  }
}

/// Something for the default storage to do.
void use_default_storage() {
  vector<number> v;
  for (number i = 0; i < 100'000; ++i) v.push_back(i);
  sorter<number> s({}, {.memory_bytes = 4_MiB});
  for (number const item : std::as_const(v)) s.push(item);
  s.sort();
  for (number const item : s)
    if (item >= v.size()) std::_Exit(3);
}

/// Uses it when it ends, and says so.
struct late_user {
  ~late_user() {
    use_default_storage();
    std::fputs("used late\n", stderr);
  }
};

TEST(default_storage_death_test, may_be_used_until_the_process_ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const use_late = [] {
    static late_user const older_than_the_storage;
    use_default_storage();
    std::exit(0);
  };
  EXPECT_EXIT(use_late(), testing::ExitedWithCode(0), "used late");
  auto const use_at_exit = [] {
    std::atexit([] { static_cast<void>(late_user()); });
    use_default_storage();
    std::exit(0);
  };
  EXPECT_EXIT(use_at_exit(), testing::ExitedWithCode(0), "used late");
  auto const go_on_until_the_end = [] {
    static std::atomic<int> rounds{0};
    for (int i = 0; i < 2; ++i)
      std::thread([] {
        for (;; ++rounds) use_default_storage();
      }).detach();
    while (rounds < 2) std::this_thread::yield();
    std::exit(0);
  };
  EXPECT_EXIT(go_on_until_the_end(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace outsize
