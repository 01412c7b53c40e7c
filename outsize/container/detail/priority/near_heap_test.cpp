// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A near heap against sorted vectors, also with an order that throws at any of its calls.

#include <outsize/container/detail/priority/near_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include <outsize/testing/effort.hpp>
#include <outsize/testing/tagged_item.hpp>

namespace outsize::detail {
namespace {

using scratch::by_key;
using scratch::tagged_item;

/// Throws at a call.
struct failing_order {
  int* calls_left;
  bool operator()(tagged_item const& a, tagged_item const& b) const {
    if (--*calls_left == 0) throw std::runtime_error("order");
    return a.key < b.key;
  }
};

TEST(near_heap, yields_equal_items_in_the_order_in_which_they_came) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  near_heap<tagged_item, by_key, true> heap{by_key()};
  std::vector<tagged_item> model;
  for (std::uint32_t tag = 0; tag < scratch::operations(20'000U); ++tag) {
    if (random() % 5 < 3 || model.empty()) {
      tagged_item const item{static_cast<std::uint32_t>(random() % 50), tag};
      heap.push(item);
      model.insert(std::ranges::upper_bound(model, item, by_key()), item);
    } else {
      ASSERT_EQ(heap.top(), model.front());
      heap.pop();
      model.erase(model.begin());
    }
    ASSERT_EQ(heap.size(), model.size());
    if (model.size() == 500) {
      ASSERT_EQ(heap.sorted(), model);
      tagged_item const limit = model[random() % model.size()];
      ASSERT_EQ(heap.count_before(limit),
                static_cast<std::size_t>(std::ranges::lower_bound(model, limit, by_key()) -
                                         model.begin()));
      model.resize(200);
      heap.assign_sorted(model);
    }
  }
}

TEST(near_heap, is_as_it_was_if_its_order_throws) {
  int calls_left = 0;
  for (int fails_at = 1; fails_at < 40; ++fails_at) {
    calls_left = -1;
    near_heap<tagged_item, failing_order, true> heap{failing_order{&calls_left}};
    std::vector<tagged_item> model;
    std::mt19937_64 random(17);
    for (std::uint32_t tag = 0; tag < 300; ++tag) {
      bool const pushes = model.empty() || random() % 3 > 0;
      tagged_item const item{static_cast<std::uint32_t>(random() % 20), tag};
      calls_left = fails_at;
      try {
        pushes ? heap.push(item) : heap.pop();
      } catch (std::runtime_error const&) {
        calls_left = -1;
        ASSERT_EQ(heap.sorted(), model);
        pushes ? heap.push(item) : heap.pop();
      }
      calls_left = -1;
      if (pushes)
        model.insert(std::ranges::upper_bound(model, item, by_key()), item);
      else
        model.erase(model.begin());
      ASSERT_EQ(heap.sorted(), model);
    }
  }
}

}  // namespace
}  // namespace outsize::detail
