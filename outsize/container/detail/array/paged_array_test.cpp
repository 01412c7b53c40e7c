// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What is left of a vector or deque when something throws while it is changed: the input, at every
// item; the disk, at every page for which it has no room; each single access.

#include <outsize/container/detail/array/paged_array.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using numbers = std::vector<number>;

constexpr std::uint64_t page_items = 8;

struct broken : std::runtime_error {
  broken() : std::runtime_error("broken") {}
};

/// Counts from a number on; looking at one of them throws. Of a category: once, or often.
template <typename Category>
class fragile_iterator {
 public:
  using value_type = number;
  using difference_type = std::ptrdiff_t;
  using iterator_category = Category;
  using iterator_concept = Category;
  using pointer = void;
  using reference = number;

  fragile_iterator() = default;
  fragile_iterator(number at, number breaks_at) : at_(at), breaks_at_(breaks_at) {}
  number operator*() const {
    if (at_ == breaks_at_) throw broken();
    return at_;
  }
  fragile_iterator& operator++() {
    ++at_;
    return *this;
  }
  fragile_iterator operator++(int) {
    auto const before = *this;
    ++at_;
    return before;
  }
  friend bool operator==(fragile_iterator const& a, fragile_iterator const& b) {
    return a.at_ == b.at_;
  }

 private:
  number at_ = 0;
  number breaks_at_ = 0;
};

/// An item that is made of what may break.
struct made_of_text {
  number value;
  made_of_text() = default;
  explicit made_of_text(std::string const& text) : value(std::stoull(text)) {}
};

template <typename Container>
struct changes_that_throw : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::unique_ptr<storage> store = with_room_for(std::uint64_t{1} << 20);
  page_options const options{
      .page_bytes = page_items * sizeof(number), .cache_pages = 4, .spare_pages = 1};

  std::unique_ptr<storage> with_room_for(std::uint64_t pages) {
    auto const open = [this, pages](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::faulty_file>(
          io::make_memory_file("small", pages * page_items * sizeof(number)), plan);
    };
    disk_options disk("small", open);
    disk.capacity_bytes = pages * page_items * sizeof(number);  // so that it says so when asked
    return std::make_unique<storage>(
        storage_options{.disks = {disk}, .memory_bytes = 1_MiB, .threads = 1});
  }

  static numbers some(std::uint64_t count, number from = 0) {
    numbers all(count);
    std::iota(all.begin(), all.end(), from);
    return all;
  }
  /// Numbers from 0 on; a deque begins in the middle of a page.
  Container filled(std::uint64_t count) {
    Container c(*store, options);
    if constexpr (requires { c.pop_front(); }) {
      for (int i = 0; i < 3; ++i) c.push_back(0);
      for (number i = 0; i < count; ++i) c.push_back(i);
      for (int i = 0; i < 3; ++i) c.pop_front();
    } else {
      for (number i = 0; i < count; ++i) c.push_back(i);
    }
    return c;
  }
  /// What is in it; accesses that fail are tried again.
  static numbers content(Container const& c) {
    numbers all;
    while (all.size() < c.size()) try {
        all.push_back(c[all.size()]);
      } catch (io_error const&) {
      }
    return all;
  }
  /// That it can be used as if nothing had happened.
  static void expect_usable(Container& c) {
    auto before = content(c);
    c.push_back(77);
    before.push_back(77);
    c.front() = before.front() = 55;
    ASSERT_EQ(content(c), before);
    c.pop_back();
    c.shrink_to_fit();
    before.pop_back();
    ASSERT_EQ(content(c), before);
  }
  /// Whether it is `old` with all of `added` side by side at or behind `index`, in any order.
  static bool is_inserted_somewhere(numbers const& found, numbers const& old, numbers const& added,
                                    std::uint64_t index) {
    if (found.size() != old.size() + added.size()) return false;
    for (auto i = static_cast<std::ptrdiff_t>(index); i <= std::ssize(old); ++i) {
      auto const from = found.begin() + i;
      auto const to = from + std::ssize(added);
      if (std::equal(found.begin(), from, old.begin()) &&
          std::equal(to, found.end(), old.begin() + i) &&
          std::is_permutation(from, to, added.begin()))
        return true;
    }
    return false;
  }
  /// Calls action(container) for filled ones of `count` items, each time with another access that
  /// fails, until none does; and then check(container, whether it has thrown). How often it has.
  template <typename Action, typename Check>
  int with_each_access_failing(std::uint64_t count, Action action, Check check) {
    int thrown = 0;
    for (auto const where : {io::fault_point::read, io::fault_point::write})
      for (std::uint64_t nth = 0, failed = 1; failed > 0; nth += scratch::one_of(3U)) {
        SCOPED_TRACE(testing::Message() << "access " << nth);
        auto c = filled(count);
        std::ignore = content(c);
        plan->script(where, plan->calls(where) + nth, io::fault::fail(EIO));
        auto const before = plan->injected();
        bool has_thrown = false;
        try {
          action(c);
        } catch (io_error const&) {
          has_thrown = true;
          ++thrown;
        }
        failed = plan->injected() - before;
        plan = std::make_shared<io::fault_plan>();  // of the next storage
        check(c, has_thrown);
        expect_usable(c);
        if (testing::Test::HasFailure()) return thrown;
        c = Container();
        store = with_room_for(std::uint64_t{1} << 20);
      }
    return thrown;
  }
};

using containers = testing::Types<vector<number>, deque<number>>;
TYPED_TEST_SUITE(changes_that_throw, containers);

constexpr std::array<std::uint64_t, 5> sizes{0, 1, 8, 21, 100};

TYPED_TEST(changes_that_throw, at_an_item_to_be_assigned_keep_what_was_there_or_those_before_it) {
  auto const check = [&]<typename Category>(Category) {
    using iterator = fragile_iterator<Category>;
    for (std::uint64_t const old : sizes)
      for (std::uint64_t breaks_at = 0; breaks_at < 50; ++breaks_at) {
        auto const expected = breaks_at == 0 ? this->some(old) : this->some(breaks_at, 1000);
        iterator const first(1000, 1000 + breaks_at), last(1050, 0);
        ASSERT_THROW(TypeParam(*this->store, first, last, this->options), broken);
        ASSERT_THROW(TypeParam(*this->store, std::ranges::subrange(first, last), this->options),
                     broken);
        ASSERT_EQ(this->store->allocated_bytes(), 0U);
        auto c = this->filled(old);
        ASSERT_THROW(c.assign(first, last), broken);
        ASSERT_EQ(this->content(c), expected) << old << " items, " << breaks_at;
        if (!c.empty()) this->expect_usable(c);

        auto of_range = this->filled(old);
        ASSERT_THROW(of_range.assign(std::ranges::subrange(first, last)), broken);
        auto const found = this->content(of_range);
        // Items of a range come some at a time.
        ASSERT_TRUE(found == this->some(old) || found == this->some(found.size(), 1000));
        ASSERT_LE(found.empty() || found.front() == 0 ? 0 : found.size(), breaks_at);
      }
  };
  check(std::input_iterator_tag());
  check(std::forward_iterator_tag());
}

TYPED_TEST(changes_that_throw, at_an_item_to_be_inserted_change_nothing) {
  auto const check = [&]<typename Category>(Category) {
    using iterator = fragile_iterator<Category>;
    for (std::uint64_t const old : sizes)
      for (std::uint64_t index = 0; index <= old; index += 1 + old / 5)
        for (std::uint64_t breaks_at = 0; breaks_at < 20; ++breaks_at) {
          auto c = this->filled(old);
          ASSERT_THROW(c.insert(c.begin() + static_cast<std::ptrdiff_t>(index),
                                iterator(1000, 1000 + breaks_at), iterator(1020, 0)),
                       broken);
          ASSERT_EQ(this->content(c), this->some(old));
          if (!c.empty()) this->expect_usable(c);
        }
  };
  check(std::input_iterator_tag());
  check(std::forward_iterator_tag());
}

TYPED_TEST(changes_that_throw, in_the_making_of_an_item_change_nothing) {
  using container = std::conditional_t<std::is_same_v<TypeParam, vector<number>>,
                                       vector<made_of_text>, deque<made_of_text>>;
  container c(*this->store, this->options);
  c.emplace_back("1");
  c.emplace_back("2");
  EXPECT_THROW(c.emplace_back("x"), std::invalid_argument);
  EXPECT_THROW(c.emplace(c.begin(), "x"), std::invalid_argument);
  if constexpr (requires { c.pop_front(); }) {
    EXPECT_THROW(c.emplace_front("x"), std::invalid_argument);
  }
  EXPECT_EQ(c.size(), 2U);
  EXPECT_EQ(c.front().value, 1U);
  EXPECT_EQ(c.back().value, 2U);
}

TYPED_TEST(changes_that_throw, are_done_as_standard_containers_do_them_if_nothing_is_thrown) {
  std::uint64_t const none = 0;
  for (std::uint64_t const old : sizes)
    for (std::uint64_t index = 0; index <= old; index += 1 + old / 7)
      for (std::uint64_t const added : {0U, 1U, 5U, 8U, 17U, 90U}) {
        SCOPED_TRACE(testing::Message() << added << " at " << index << " of " << old);
        auto const at = static_cast<std::ptrdiff_t>(index);
        auto const more = this->some(added, 1000);
        auto expected = this->some(old);
        expected.insert(expected.begin() + at, more.begin(), more.end());

        auto c = this->filled(old);
        ASSERT_EQ(c.insert(c.begin() + at, more.begin(), more.end()) - c.begin(), at);
        ASSERT_EQ(this->content(c), expected);
        std::forward_list<number> const list(more.begin(), more.end());
        c = this->filled(old);
        ASSERT_EQ(c.insert(c.begin() + at, list.begin(), list.end()) - c.begin(), at);
        ASSERT_EQ(this->content(c), expected);
        using once = fragile_iterator<std::input_iterator_tag>;
        c = this->filled(old);
        ASSERT_EQ(c.insert(c.cbegin() + at, once(1000, none), once(1000 + added, none)) - c.begin(),
                  at);
        ASSERT_EQ(this->content(c), expected);

        c = this->filled(old);
        c.assign(list.begin(), list.end());
        ASSERT_EQ(this->content(c), more);
        c.assign(more);
        c.assign(added, 9);
        ASSERT_EQ(this->content(c), numbers(added, 9));
        ASSERT_LE(this->store->allocated_bytes(), (added / page_items + 2) * 64);
      }
}

TYPED_TEST(changes_that_throw, for_want_of_room_leave_what_was_there) {
  for (std::uint64_t pages = 0; pages < 24; ++pages) {
    SCOPED_TRACE(testing::Message() << pages << " pages left");
    std::uint64_t const old = 37;
    auto const before = this->some(old);
    auto const more = this->some(page_items * 12, 1000);
    std::forward_list<number> const list(more.begin(), more.end());
    this->store = this->with_room_for(6 + pages);
    auto c = this->filled(old);  // 5 or 6 pages
    int refused = 0;
    /// Whether it has been done; if not, what must be there.
    auto const tried = [&](auto const& action, numbers const& otherwise) {
      try {
        action();
        c = TypeParam(*this->store, this->options);
        c = this->filled(old);
        return;
      } catch (out_of_space const& e) {
        EXPECT_EQ(e.disk(), "small");
      }
      ++refused;
      ASSERT_EQ(this->content(c), otherwise);
    };
    auto const at = [&](std::ptrdiff_t index) { return c.cbegin() + index; };
    tried([&] { c.insert(at(11), more.begin(), more.end()); }, before);
    tried([&] { c.insert(at(37), list.begin(), list.end()); }, before);
    tried([&] { c.insert(at(0), more.size(), 7); }, before);
    tried([&] { c.resize(old + more.size()); }, before);
    tried([&] { c.resize(old + more.size(), 5); }, before);
    tried([&] { c.assign(old + more.size(), 5); }, before);
    auto const longer = this->some(old + more.size(), 1000);
    tried([&] { c.assign(longer.begin(), longer.end()); }, before);
    EXPECT_EQ(refused, pages < 11 ? 7 : 0);

    // Of what cannot tell how much it is, as much as there is room for.
    std::forward_list<number> const untold(longer.begin(), longer.end());
    try {
      c.assign(untold.begin(), untold.end());
      EXPECT_GE(pages, 11U);
    } catch (out_of_space const&) {
      EXPECT_EQ(this->content(c), this->some(c.size(), 1000));
      EXPECT_GE(c.size(), (5 + pages) * page_items);
    }
    c.resize(2);
    c.push_back(7);
    EXPECT_EQ(c.back(), 7U);
  }
}

TYPED_TEST(changes_that_throw, at_an_access_leave_what_they_say) {
  std::uint64_t const old = 75, index = 21;
  auto const before = this->some(old);
  for (std::uint64_t const count : {1U, 5U, 30U, 70U}) {
    SCOPED_TRACE(testing::Message() << count << " items");
    auto const more = this->some(count, 1000);
    auto const place = [&](TypeParam& c) { return c.begin() + static_cast<std::ptrdiff_t>(index); };
    auto inserted = before;
    inserted.insert(inserted.begin() + static_cast<std::ptrdiff_t>(index), more.begin(),
                    more.end());
    int const insertions = this->with_each_access_failing(
        old, [&](TypeParam& c) { c.insert(place(c), more.begin(), more.end()); },
        [&](TypeParam& c, bool has_thrown) {
          auto const found = this->content(c);
          if (!has_thrown)
            ASSERT_EQ(found, inserted);
          else
            ASSERT_TRUE(found == before || this->is_inserted_somewhere(found, before, more, index));
        });
    int others = this->with_each_access_failing(
        old, [&](TypeParam& c) { c.assign(more.begin(), more.end()); },
        [&](TypeParam& c, bool has_thrown) {
          auto const found = this->content(c);
          if (!has_thrown)
            ASSERT_EQ(found, more);
          else
            ASSERT_TRUE(found == before || found == this->some(found.size(), 1000));
        });
    others += this->with_each_access_failing(
        old, [&](TypeParam& c) { c.resize(old + count, 7); },
        [&](TypeParam& c, bool has_thrown) {
          auto expected = before;
          if (!has_thrown) expected.resize(old + count, 7);
          ASSERT_EQ(this->content(c), expected);
        });
    auto const end = std::min(index + count, old);
    auto rest = before;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index),
               rest.begin() + static_cast<std::ptrdiff_t>(end));
    int const erasures = this->with_each_access_failing(
        old, [&](TypeParam& c) { c.erase(place(c), c.begin() + static_cast<std::ptrdiff_t>(end)); },
        [&](TypeParam& c, bool has_thrown) {
          auto found = this->content(c);
          if (has_thrown) {
            ASSERT_EQ(found.size(), old);
            bool is_there = false;
            for (auto i = static_cast<std::ptrdiff_t>(index); i <= std::ssize(rest); ++i) {
              auto without = found;
              without.erase(without.begin() + i,
                            without.begin() + i + static_cast<std::ptrdiff_t>(end - index));
              is_there = is_there || without == rest;
            }
            ASSERT_TRUE(is_there);
          } else {
            ASSERT_EQ(found, rest);
          }
        });
    EXPECT_GT(insertions, 0);
    EXPECT_TRUE(erasures > 0 || end == old);
    EXPECT_TRUE(others > 0 || count < 30);
  }
}

TYPED_TEST(changes_that_throw, at_more_items_than_there_can_be_are_refused) {
  auto c = this->filled(0);
  for (std::uint64_t const old : {0U, 21U}) {
    while (c.size() < old) c.push_back(c.size());
    for (std::uint64_t const count : {c.max_size() + 1, UINT64_MAX - 1, UINT64_MAX}) {
      EXPECT_THROW(c.resize(count), std::length_error);
      EXPECT_THROW(c.resize(count, 7), std::length_error);
      EXPECT_THROW(c.assign(count, 7), std::length_error);
      EXPECT_THROW(c.insert(c.cbegin(), count, 7), std::length_error);
      EXPECT_THROW(TypeParam(*this->store, count), std::length_error);
      EXPECT_THROW(TypeParam(*this->store, count, 7), std::length_error);
      ASSERT_EQ(this->content(c), this->some(old));
    }
    EXPECT_THROW(c.resize(c.size() - old - 1), std::length_error);
  }
  EXPECT_THROW(c.insert(c.cend(), c.max_size() - 20, 7), std::length_error);
  this->expect_usable(c);
}

}  // namespace
}  // namespace outsize
