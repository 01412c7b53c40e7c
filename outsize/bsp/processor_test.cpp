// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Exchanges of virtual processors against models, with memory for a few of them.

#include <outsize/bsp/processor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/virtual_processors.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;

/// Has `count` processors run with little memory, by one worker and by three.
template <typename Program>
void with_all(std::uint32_t count, Program const& program) {
  for (std::uint32_t const workers : {1U, 3U}) {
    SCOPED_TRACE(workers);
    scratch::counted_storage disks(3_MiB);
    run(disks.store, count, program, {.context_bytes = 384_KiB, .workers = workers});
    EXPECT_EQ(disks.store.allocated_bytes(), 0U);
  }
}

/// A number that says where it comes from and where it goes.
std::uint64_t number_of(std::uint32_t from, std::uint32_t to, std::uint64_t i) {
  return (std::uint64_t{from} << 48) + (std::uint64_t{to} << 32) + i;
}
/// How many go.
std::uint64_t amount_of(std::uint32_t from, std::uint32_t to, std::uint64_t round) {
  std::mt19937_64 random(from * 1'000 + to + round * 1'000'000);
  return random() % 3 == 0 ? 0 : random() % 1'500;
}

TEST(processor, exchanges_with_all) {
  with_all(9, [](processor& p) {
    for (std::uint64_t round = 0; round < 4; ++round) {
      parts<std::uint64_t> out;
      for (std::uint32_t to = 0; to < p.count(); ++to) {
        out.counts.push_back(amount_of(p.rank(), to, round));
        for (std::uint64_t i = 0; i < out.counts.back(); ++i) {
          out.items.push_back(number_of(p.rank(), to, i));
        }
      }
      parts<std::uint64_t> in =
          round % 2 == 0 ? p.all_to_all(std::as_const(out)) : p.all_to_all(std::move(out));
      std::vector<std::span<std::uint64_t>> const from = in.split();
      ASSERT_EQ(from.size(), p.count());
      for (std::uint32_t source = 0; source < p.count(); ++source) {
        ASSERT_EQ(from[source].size(), amount_of(source, p.rank(), round));
        for (std::uint64_t i = 0; i < from[source].size(); ++i) {
          ASSERT_EQ(from[source][i], number_of(source, p.rank(), i));
        }
      }
    }
  });
}

TEST(processor, broadcasts) {
  with_all(7, [](processor& p) {
    for (std::uint32_t root = 0; root < p.count(); ++root) {
      vector<std::uint32_t> numbers(5'000, p.rank());
      p.broadcast(std::span(numbers), root);
      EXPECT_EQ(numbers, vector<std::uint32_t>(5'000, root));
      EXPECT_EQ(p.broadcast(p.rank() * 2.5, root), root * 2.5);
    }
  });
}

TEST(processor, gathers_and_scatters) {
  with_all(6, [](processor& p) {
    vector<std::uint32_t> const mine(p.rank() * 100, p.rank());
    parts<std::uint32_t> at_root = p.gather(std::span<std::uint32_t const>(mine), 2);
    EXPECT_EQ(at_root.counts.size(), p.rank() == 2 ? 6U : 0U);
    vector<std::uint32_t> const back = p.scatter(at_root, 2);
    EXPECT_EQ(back, mine);
    parts<std::uint32_t> const all = p.all_gather(std::span<std::uint32_t const>(mine));
    ASSERT_EQ(all.items.size(), 1'500U);
    EXPECT_TRUE(std::is_sorted(all.items.begin(), all.items.end()));
    vector<std::uint32_t> const ranks = p.all_gather(p.rank());
    for (std::uint32_t rank = 0; rank < p.count(); ++rank) EXPECT_EQ(ranks[rank], rank);
  });
}

/// Affine maps: their composition is associative, and not commutative.
struct affine {
  std::uint32_t a = 1, b = 0;
  friend bool operator==(affine const&, affine const&) = default;
};
affine then(affine const& f, affine const& g) { return {g.a * f.a, g.a * f.b + g.b}; }
affine affine_of(std::uint32_t rank, std::size_t place) {
  return {2 * rank + 3, static_cast<std::uint32_t>(place) + rank};
}

TEST(processor, folds_in_the_order_of_ranks) {
  with_all(8, [](processor& p) {
    std::vector<affine> expected(2'000);
    vector<affine> mine;
    for (std::size_t place = 0; place < expected.size(); ++place) {
      expected[place] = affine_of(0, place);
      for (std::uint32_t rank = 1; rank < p.count(); ++rank) {
        expected[place] = then(expected[place], affine_of(rank, place));
      }
      mine.push_back(affine_of(p.rank(), place));
    }
    vector<affine> const all = p.all_reduce(std::span<affine const>(mine), then);
    EXPECT_TRUE(std::equal(all.begin(), all.end(), expected.begin(), expected.end()));
    vector<affine> const at_root = p.reduce(std::span<affine const>(mine), then, 5);
    EXPECT_EQ(at_root.size(), p.rank() == 5 ? expected.size() : 0U);
    EXPECT_TRUE(std::equal(at_root.begin(), at_root.end(), expected.begin()));
    EXPECT_EQ(p.all_reduce(p.rank()), 28U);

    affine up_to = affine_of(0, 7);
    std::optional<affine> before;
    for (std::uint32_t rank = 1; rank <= p.rank(); ++rank) {
      before = up_to;
      up_to = then(up_to, affine_of(rank, 7));
    }
    EXPECT_EQ(p.inclusive_scan(affine_of(p.rank(), 7), then), up_to);
    EXPECT_EQ(p.exclusive_scan(affine_of(p.rank(), 7), then), before);
  });
}

TEST(processor, sends_and_receives) {
  with_all(5, [](processor& p) {
    std::uint32_t const next = (p.rank() + 1) % p.count();
    std::uint32_t const before = (p.rank() + p.count() - 1) % p.count();
    vector<std::uint64_t> numbers(8'000, p.rank());
    for (std::uint32_t hop = 0; hop < p.count(); ++hop) {
      p.send(next, std::span<std::uint64_t const>(numbers), hop);
      numbers = p.receive<std::uint64_t>(before, hop);
    }
    EXPECT_EQ(numbers, vector<std::uint64_t>(8'000, p.rank()));
  });
}

TEST(processor, receives_by_source_and_tag) {
  with_all(4, [](processor& p) {
    if (p.rank() != 0) {
      for (std::uint32_t tag = 0; tag < 3; ++tag) {
        std::array const twice = {p.rank(), tag};
        p.send(0, std::span<std::uint32_t const>(twice), tag);
        p.send(0, std::span<std::uint32_t const>(), tag);
      }
      return;
    }
    for (std::uint32_t tag = 3; tag-- > 0;) {  // others first
      vector<std::uint32_t> const got = p.receive<std::uint32_t>(2, tag);
      EXPECT_EQ(got, (vector<std::uint32_t>{2, tag}));
      EXPECT_TRUE(p.receive<std::uint32_t>(2, tag).empty());
    }
    std::array<std::uint32_t, 4> next = {};
    for (int left = 2 * 6; left-- > 0;) {  // in order from each
      message_origin origin;
      vector<std::uint32_t> const got = p.receive<std::uint32_t>({}, {}, &origin);
      std::uint32_t const turn = next[origin.source]++;
      EXPECT_EQ(origin.tag, turn / 2);
      EXPECT_EQ(got.size(), turn % 2 == 0 ? 2U : 0U);
    }
  });
}

TEST(processor, splits_groups) {
  with_all(12, [](processor& p) {
    std::uint32_t const row = p.rank() / 4;
    processor across = p.split(row);
    processor down = p.split(p.rank() % 4, -static_cast<std::int64_t>(row));  // the other way round
    EXPECT_EQ(across.count(), 4U);
    EXPECT_EQ(across.rank(), p.rank() % 4);
    EXPECT_EQ(down.count(), 3U);
    EXPECT_EQ(down.rank(), 2 - row);
    EXPECT_EQ(across.all_reduce(p.rank()), 16 * row + 6);
    EXPECT_EQ(down.all_reduce(p.rank()), 3 * (p.rank() % 4) + 12);
    down.barrier();
    processor again = across.split(across.rank() % 2);
    EXPECT_EQ(again.count(), 2U);
    vector<std::uint32_t> const ranks = again.all_gather(p.rank());
    EXPECT_EQ(ranks[0], 4 * row + across.rank() % 2);
    EXPECT_EQ(ranks[1], ranks[0] + 2);
  });
}

TEST(processor, may_drop_a_group_at_once) {
  with_all(5, [](processor& p) {
    for (std::uint32_t root = 0; root < p.count(); ++root) {
      parts<std::uint32_t> const all = p.split(0).gather(
          std::span<std::uint32_t const>(vector<std::uint32_t>(1, p.rank())), root);
      EXPECT_EQ(all.items.size(), p.rank() == root ? 5U : 0U);
    }
  });
}

// Contexts of different lengths, of which some are half on disk when a message makes them ready.
TEST(processor, wakes_others_whose_memory_is_leaving) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    scratch::counted_storage disks(2_MiB);
    run(disks.store, 9,
        [&](processor& p) {
          std::mt19937_64 shared(seed);
          vector<std::uint64_t> held(1'000 + (p.rank() * 7919 + seed * 31) % 25'000, p.rank());
          std::uint64_t token = 0;
          for (int hop = 0; hop < 60; ++hop) {
            auto const from = static_cast<std::uint32_t>(shared() % p.count());
            auto const to = static_cast<std::uint32_t>(shared() % p.count());
            if (p.rank() == from) {
              held.front() += token;
              p.send(to, std::span<std::uint64_t const>(&held.front(), 1));
            }
            if (p.rank() == to) token += p.receive<std::uint64_t>(from).front();
          }
          EXPECT_EQ(std::count(held.begin() + 1, held.end(), p.rank()),
                    static_cast<std::ptrdiff_t>(held.size() - 1));
        },
        {.context_bytes = 320_KiB, .workers = 1 + static_cast<std::uint32_t>(seed % 3)});
  }
}

// A program of random exchanges gives the same for any number of workers and any memory.
TEST(processor, computes_the_same_whatever_the_memory) {
  auto const result = [](std::uint64_t seed, std::uint64_t memory_bytes, std::uint32_t workers) {
    scratch::counted_storage disks(memory_bytes);
    std::uint64_t all = 0;
    run(disks.store, 7,
        [&](processor& p) {
          std::mt19937_64 shared(seed);
          std::mt19937_64 own(seed * 100 + p.rank());
          vector<std::uint64_t> state(2'000);
          std::generate(state.begin(), state.end(), own);
          for (int step = 0; step < 30; ++step) {
            std::uint64_t const kind = shared() % 5;
            auto const root = static_cast<std::uint32_t>(shared() % p.count());
            if (kind == 0) {
              parts<std::uint64_t> out;
              for (std::uint32_t to = 0; to < p.count(); ++to) out.counts.push_back(own() % 300);
              std::uint64_t const sum = std::reduce(out.counts.begin(), out.counts.end());
              for (std::uint64_t i = 0; i < sum; ++i) out.items.push_back(state[i % 2'000] + own());
              parts<std::uint64_t> const in = p.all_to_all(std::move(out));
              for (std::size_t i = 0; i < in.items.size(); ++i) state[i % 2'000] ^= in.items[i];
            } else if (kind == 1) {
              p.broadcast(std::span(state).first(500), root);
            } else if (kind == 2) {
              vector<std::uint64_t> const sums =
                  p.all_reduce(std::span<std::uint64_t const>(state).last(100), std::plus<>());
              for (std::size_t i = 0; i < 100; ++i) state[i] += sums[i];
            } else if (kind == 3) {
              std::uint32_t const shift = root + 1;
              p.send((p.rank() + shift) % p.count(), std::span<std::uint64_t const>(state));
              state = p.receive<std::uint64_t>((p.rank() + 2 * p.count() - shift) % p.count());
            } else {
              processor part = p.split(static_cast<std::int64_t>((p.rank() * 7 + root) % 3));
              state[5] += part.all_reduce(state[9]) + part.rank();
            }
          }
          std::uint64_t const mine = std::reduce(state.begin(), state.end());
          std::uint64_t const folded =
              p.all_reduce(mine, [](std::uint64_t a, std::uint64_t b) { return a * 31 + b; });
          if (p.rank() == 0) all = folded;
        },
        {.context_bytes = 256_KiB, .workers = workers});
    return all;
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    std::uint64_t const expected = result(seed, 64_MiB, 1);
    EXPECT_EQ(result(seed, 2_MiB, 1), expected);
    EXPECT_EQ(result(seed, 2_MiB, 3), expected);
    EXPECT_EQ(result(seed, 5_MiB, 2), expected);
  }
}

}  // namespace
}  // namespace outsize::bsp
