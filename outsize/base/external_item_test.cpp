// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Values whose bytes say all are items, others are not.

#include <outsize/base/external_item.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace outsize {
namespace {
struct vouched;
struct refused;
}  // namespace
template <>
inline constexpr bool enable_external_item<vouched> = true;
template <>
inline constexpr bool enable_external_item<refused> = false;

namespace {

struct point {
  int x = 0, y = 0;
};
struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};

// Aggregates that hold addresses, and others like them that do not.
struct text_line {
  int number;
  std::string_view text;
};
struct text_lines {
  char name[100];
  point place;
  text_line some[3];
};
struct derived_line : text_line {
  int length;
};
struct flags {
  unsigned low : 3;
  unsigned high : 5;
  void const* where;
};
struct many_fields {
  int a[9], b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
  std::optional<char const*> z;
};
struct plain_line : point {
  char name[100] = "";
  unsigned low : 3;
  std::array<char, 5000> text;
  std::optional<int> length;
  no_default const* const* operator->() const { return nullptr; }
};
template <typename Key, typename Value>
class pair_of {
 public:
  pair_of() = default;
  pair_of(Key const& key, Value const& value) : key_(key), value_(value) {}

 private:
  Key key_{};
  Value value_{};
};
/// A number that stands for a T.
template <typename T>
class number_of {
 public:
  number_of() = default;
  explicit number_of(unsigned number) : number_(number) {}

 private:
  unsigned number_ = 0;
};
struct node;
struct named_node {
  std::string name;
};

struct vouched {
  char const* literal;
};
struct holds_vouched {
  vouched first;
  vouched more[2];
};
struct refused {
  int descriptor;
};
struct holds_refused {
  int first;
  refused second;
};

TEST(external_item, is_any_value_that_can_be_copied_by_its_bytes) {
  EXPECT_TRUE((external_item<int> && external_item<point> && external_item<std::array<point, 3>>));
}

TEST(external_item, is_nothing_that_refers_to_memory_elsewhere_or_cannot_be_made_beforehand) {
  EXPECT_FALSE((external_item<std::string> || external_item<point*> || external_item<point&>));
  EXPECT_FALSE((external_item<point const> || external_item<no_default>));
}

TEST(external_item, is_nothing_that_is_seen_to_hold_an_address) {
  static_assert(!external_item<std::string_view> && !external_item<std::span<int>>);
  static_assert(!external_item<std::initializer_list<int>> && !external_item<std::nullptr_t>);
  static_assert(!external_item<std::vector<int>::iterator>);
  static_assert(!external_item<std::reference_wrapper<int>> && !external_item<int point::*>);
  static_assert(!external_item<void (*)(int)> && !external_item<void (point::*)()>);
  static_assert(!external_item<std::array<char*, 2>> && !external_item<char* [2][3]>);
  static_assert(!external_item<std::optional<std::string_view>>);
  static_assert(!external_item<std::variant<int, char const*>>);
  static_assert(!external_item<text_line> && !external_item<text_lines> &&
                !external_item<derived_line>);
  static_assert(!external_item<flags> && !external_item<many_fields>);
  static_assert(!external_item<pair_of<int, char*>> && !external_item<pair_of<text_line, int>>);
  static_assert(external_item<plain_line> && external_item<pair_of<point, double>>);
  static_assert(external_item<number_of<node>> && external_item<number_of<named_node>>);
  static_assert(external_item<std::optional<point>> && external_item<std::variant<int, point>>);
  static_assert(external_item<std::complex<double>> && external_item<std::chrono::nanoseconds>);
}

TEST(external_item, is_what_the_user_vouches_for) {
  static_assert(external_item<vouched> && external_item<holds_vouched>);
  static_assert(!external_item<refused> && !external_item<holds_refused>);
  static_assert(external_item<std::array<vouched, 3>> && !external_item<std::array<refused, 3>>);
}

TEST(external_item, asks_for_no_more_than_a_line_of_a_cache_at_once) {
  struct alignas(64) line {
    int value;
  };
  struct alignas(128) lines {
    int value;
  };
  EXPECT_TRUE(external_item<line>);
  EXPECT_FALSE(external_item<lines>);
  for (std::size_t const count : {1U, 64U, 1000U}) {
    aligned_bytes const memory(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(line), 0U);
  }
}

}  // namespace
}  // namespace outsize
