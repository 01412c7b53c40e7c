// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/balanced_exchange.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/bsp_error.hpp>
#include <outsize/bsp/virtual_processors.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp::detail {
namespace {

using namespace literals;

struct item {
  std::uint32_t source, destination, number;
  friend bool operator==(item const&, item const&) = default;
};

/// How many items each pair exchanges: mostly few or none, at times very many.
std::vector<std::uint64_t> random_counts(std::uint32_t members, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> counts(members * members);
  for (std::uint64_t& count : counts) {
    count = random() % 3 == 0 ? 0 : random() % (random() % 7 == 0 ? 3'000 : 20);
  }
  return counts;
}

/// The most items that one member sends or receives.
std::uint64_t most_of_one(std::vector<std::uint64_t> const& counts, std::uint32_t members) {
  std::uint64_t most = 0;
  for (std::uint32_t one = 0; one < members; ++one) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (std::uint32_t other = 0; other < members; ++other) {
      sent += counts[one * members + other];
      received += counts[other * members + one];
    }
    most = std::max({most, sent, received});
  }
  return most;
}

TEST(balanced_exchange, gives_each_its_items_in_order_by_messages_of_even_length) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    auto const members = static_cast<std::uint32_t>(1 + seed % 9);
    std::vector<std::uint64_t> const counts = random_counts(members, seed);
    std::uint64_t const most = most_of_one(counts, members);
    scratch::counted_storage disks(8_MiB);
    bsp::run(disks.store, members, [&](processor& p) {
      std::vector<vector<item>> out(members);
      std::vector<vector<item>> in(members);
      std::vector<std::span<std::byte const>> sent;
      std::vector<std::span<std::byte>> came;
      for (std::uint32_t other = 0; other < members; ++other) {
        for (std::uint32_t i = 0; i < counts[p.rank() * members + other]; ++i) {
          out[other].push_back({p.rank(), other, i});
        }
        in[other].resize(counts[other * members + p.rank()]);
        sent.push_back(std::as_bytes(std::span(out[other])));
        came.push_back(std::as_writable_bytes(std::span(in[other])));
      }
      member mine = p.as_member();
      std::uint64_t const longest = balanced_exchange(mine, "test", sent, came, sizeof(item));
      EXPECT_LE(2 * members * (longest / sizeof(item)), 2 * most + members * (members - 1));
      for (std::uint32_t source = 0; source < members; ++source) {
        for (std::uint32_t i = 0; i < in[source].size(); ++i) {
          ASSERT_EQ(in[source][i], (item{source, p.rank(), i}));
        }
      }
    });
  }
}

TEST(balanced_exchange, refuses_buffers_of_another_length) {
  scratch::counted_storage disks(4_MiB);
  EXPECT_THROW(bsp::run(disks.store, 2,
                        [](processor& p) {
                          std::vector<std::byte> bytes(8);
                          std::array<std::span<std::byte const>, 2> const out{bytes, bytes};
                          std::array<std::span<std::byte>, 2> const in{bytes, {}};
                          member mine = p.as_member();
                          balanced_exchange(mine, "test", out, in, 4);
                        }),
               bsp_error);
}

}  // namespace
}  // namespace outsize::bsp::detail
