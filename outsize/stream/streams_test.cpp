// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Programs that use both namespaces can name all operators, beside algorithms of the same names.
#include <outsize/stream/streams.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/algorithms.hpp>

namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

using words = std::vector<std::uint64_t>;

struct streams : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB}};
};

template <typename In>
struct as_it_is {
  using value_type = stream_item_t<In>;
  explicit as_it_is(In& from) : in(from) {}
  bool empty() { return in.empty(); }
  decltype(auto) operator*() { return *in; }
  as_it_is& operator++() {
    ++in;
    return *this;
  }
  In& in;
};

auto const half = [](std::uint64_t x) { return x / 2; };
auto const any = [](std::uint64_t) { return true; };
auto const none = [](std::uint64_t) { return false; };

any_flow<std::uint64_t> numbers() { return counter(std::uint64_t{0}, std::uint64_t{1000}); }

TEST_F(streams, name_operators_on_items) {
  auto const same = [](std::uint64_t x) { return words{x}; };
  auto const first = [](std::span<std::uint64_t const> all) { return all.front(); };
  auto const later = [](neighbours<std::uint64_t> const& two) { return two.second - two.first; };
  auto all = numbers() | transform(half) | filter(any) | inspect(half) | take(900) | drop(100) |
             take_while(any) | drop_while(none) | flat_map(same) | enumerate() |
             choose(&enumerated<std::uint64_t>::item) | adjacent() | transform(later) |
             scan(std::uint64_t{50}) | unique() | sample(1, 1) | chunk(1, first) |
             window(1, first) | via<as_it_is>();
  words out;
  run(store, std::move(all) | into(std::back_inserter(out)));
  words expected;
  for (std::uint64_t x = 50; x < 450; ++x) expected.push_back(x);
  EXPECT_EQ(out, expected);
}

TEST_F(streams, name_operators_on_groups_and_flows) {
  auto const sum = [](auto& items) {
    std::uint64_t all = 0;
    for (auto x : as_range(items)) all += x;
    return all;
  };
  auto const equal_halves = [](std::uint64_t a, std::uint64_t b) { return a / 2 == b / 2; };
  auto pairs = numbers() | group(equal_halves, sum);
  auto also_pairs = numbers() | fold_groups(equal_halves, std::identity(), std::plus<>());
  auto both = zip(std::move(pairs), std::move(also_pairs)) |
              transform([](std::uint64_t a, std::uint64_t b) { return a == b ? a : 0; });
  auto one = make<as_it_is>(concat(std::move(both), numbers()));
  auto same = make([](auto& in) { return as_it_is(in); }, std::move(one));
  EXPECT_EQ(run(store, std::move(same) | sort() | parallel(transform(half)) | async() |
                           reduce(std::uint64_t{0})),
            499U * 500 + 499U * 500);  // of the sums 4k + 1, and of all numbers
}

TEST_F(streams, leave_the_names_of_algorithms) {
  outsize::vector<std::uint64_t> a(store), b(store);
  run(store, numbers() | into(a));
  run(store, numbers() | into(b));
  transform(a.begin(), a.end(), b.begin(), half);
  EXPECT_EQ(reduce(b.begin(), b.end(), std::uint64_t{0}), 2 * (499U * 500 / 2));
  EXPECT_EQ(count(b.begin(), b.end(), std::uint64_t{7}), 2);
  sort(b.begin(), b.end(), std::greater<>());
  auto const end = unique(b.begin(), b.end());
  EXPECT_EQ(end - b.begin(), 500);
  words out;
  run(store, from(b) | take(3) | into(std::back_inserter(out)));
  EXPECT_EQ(out, (words{499, 498, 497}));
}

}  // namespace
}  // namespace user_code
