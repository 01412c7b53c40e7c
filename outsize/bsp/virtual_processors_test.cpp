// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Runs of virtual processors with less memory than their contexts: their contents stay as they
// were, I/Os are as many as the formula says, failures end the run in order.

#include <outsize/bsp/virtual_processors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;
using testing::HasSubstr;

/// Numbers that differ by place, processor and round.
void fill(std::span<std::uint64_t> numbers, std::uint64_t seed) {
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = seed * 1'000'003 + i;
}
bool is_filled(std::span<std::uint64_t const> numbers, std::uint64_t seed) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != seed * 1'000'003 + i) return false;
  }
  return true;
}

void expect_nothing_left(storage& store) {
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST(run, keeps_the_memory_of_all_processors) {
  for (std::uint32_t const workers : {1U, 2U, 3U}) {
    SCOPED_TRACE(workers);
    scratch::counted_storage disks(2_MiB);
    std::atomic<int> ended = 0;
    run_report const report = run(disks.store, 10,
                                  [&](processor& p) {
                                    EXPECT_EQ(p.count(), 10U);
                                    vector<std::uint64_t> numbers(30'000);  // 240 KB
                                    std::uint64_t* const place = numbers.data();
                                    fill(numbers, p.rank());
                                    for (std::uint64_t round = 1; round < 6; ++round) {
                                      p.barrier();
                                      ASSERT_TRUE(is_filled(numbers, p.rank() + (round - 1) * 100));
                                      ASSERT_EQ(numbers.data(), place);
                                      fill(numbers, p.rank() + round * 100);
                                    }
                                    ++ended;
                                  },
                                  {.context_bytes = 256_KiB, .workers = workers});
    EXPECT_EQ(ended, 10);
    EXPECT_GT(report.total().swapped_out_bytes, 5 * 3 * 240'000U);
    EXPECT_EQ(report.total().operations, 50U);
    expect_nothing_left(disks.store);
  }
}

TEST(run, gives_large_frames_from_one_processor_to_another) {
  scratch::counted_storage disks(240_MiB);  // contexts of 66 MiB have pieces of 2 MiB
  run(disks.store, 6,
      [&](processor& p) {
        constexpr std::size_t most = 40_MiB / 8;
        vector<std::uint64_t> numbers(most - p.rank() * 100'000);
        vector<std::uint64_t> zeros(100'000, 0);  // neither written nor read
        fill(numbers, p.rank());
        for (std::uint64_t round = 1; round < 3; ++round) {
          p.barrier();
          ASSERT_TRUE(is_filled(numbers, p.rank() + (round - 1) * 100));
          ASSERT_EQ(std::count(zeros.begin(), zeros.end(), 0), 100'000);
          fill(numbers, p.rank() + round * 100);
        }
      },
      {.context_bytes = 66_MiB, .workers = 1});
  expect_nothing_left(disks.store);
}

TEST(run, moves_nothing_that_fits_into_memory) {
  scratch::counted_storage disks(16_MiB);
  run(disks.store, 8, [](processor& p) {
    vector<std::uint64_t> numbers(100'000);
    fill(numbers, p.rank());
    for (int round = 0; round < 3; ++round) p.barrier();
    EXPECT_TRUE(is_filled(numbers, p.rank()));
  });
  EXPECT_EQ(disks.writes() + disks.reads(), 0U);
}

// A superstep reads contexts and writes their changed bytes: of contexts of c bytes, d of them
// changed, c + d for each processor, less the contexts that stay in memory between supersteps.
TEST(run, moves_only_what_is_used_and_has_changed) {
  constexpr std::uint32_t count = 16;
  constexpr std::uint64_t rounds = 8;
  constexpr std::size_t used = 1_MiB;
  constexpr std::size_t changed = 256_KiB;
  scratch::counted_storage disks(8_MiB);
  run_report const report =
      run(disks.store, count,
          [&](processor& p) {
            std::span<std::uint64_t> const numbers = p.allocate<std::uint64_t>(used / 8);
            fill(numbers, p.rank());
            for (std::uint64_t round = 0; round < rounds; ++round) {
              p.barrier();
              fill(numbers.first(changed / 8), p.rank() + 100 * round);
            }
            p.barrier();
            EXPECT_TRUE(is_filled(numbers.first(changed / 8), p.rank() + 100 * (rounds - 1)));
            p.free(numbers);
          },
          {.context_bytes = 1_MiB, .workers = 1});
  std::uint64_t const most_written = count * (used + rounds * changed);
  std::uint64_t const most_read = count * (rounds + 1) * used;
  processor_counts const moved = report.total();
  EXPECT_LE(moved.swapped_out_bytes, most_written);
  EXPECT_LE(moved.swapped_in_bytes, most_read);
  std::uint64_t const staying = report.plan.frame_bytes * (rounds + 1);
  EXPECT_GE(moved.swapped_out_bytes + staying, most_written);
  EXPECT_GE(moved.swapped_in_bytes + staying, most_read);
  EXPECT_EQ(disks.tally->writes().bytes, moved.swapped_out_bytes);
  EXPECT_EQ(disks.tally->reads().bytes, moved.swapped_in_bytes);
}

// Bytes that are on disk as a part of their sender's context are sent without a write; changed ones
// are written once, for both.
TEST(run, reads_long_messages_in_the_contexts_of_their_senders) {
  constexpr std::uint32_t count = 8;
  constexpr std::size_t part = 64_KiB / 8 * 3;  // items
  for (bool const is_changed : {false, true}) {
    SCOPED_TRACE(is_changed);
    scratch::counted_storage disks(12_MiB + 512_KiB);
    run_report const report =
        run(disks.store, count,
            [&](processor& p) {
              parts<std::uint64_t> out{vector<std::uint64_t>(count * part), {}};
              out.counts.assign(count, part);
              for (std::uint64_t round = 0; round < 3; ++round) {
                if (round == 0 || is_changed) fill(out.items, p.rank() * 10 + round);
                p.barrier();
                parts<std::uint64_t> const in = p.all_to_all(out);
                ASSERT_EQ(in.counts, out.counts);
                for (std::uint32_t source = 0; source < count; ++source) {
                  std::uint64_t const sent = (source * 10 + (is_changed ? round : 0)) * 1'000'003;
                  for (std::size_t i = 0; i < part; i += 997) {
                    ASSERT_EQ(in.items[source * part + i], sent + p.rank() * part + i);
                  }
                }
              }
            },
            {.context_bytes = 3_MiB + 512_KiB, .workers = 1});
    std::uint64_t const sent = count * count * part * 8;
    std::uint64_t const rounds = is_changed ? 3 : 1;
    std::uint64_t const ragged = count * 4 * 64_KiB;  // grains with other things in them
    EXPECT_EQ(report.total().sent_bytes, 3 * sent);
    EXPECT_EQ(report.messages_written_bytes, 0U);
    EXPECT_GE(report.total().swapped_out_bytes, rounds * sent);
    EXPECT_LE(report.total().swapped_out_bytes, rounds * (sent + ragged) + count * sent / 8);
    EXPECT_EQ(disks.tally->writes().bytes, report.total().swapped_out_bytes);
    EXPECT_EQ(disks.tally->reads().bytes,
              report.total().swapped_in_bytes + report.messages_read_bytes);
    expect_nothing_left(disks.store);
  }
}

TEST(run, moves_no_contents_that_are_discarded) {
  scratch::counted_storage disks(4_MiB);
  run_report const report =
      run(disks.store, 12,
          [](processor& p) {
            detail::member mine = p.as_member();
            vector<std::uint64_t> kept(20'000);
            vector<std::uint64_t> gone(60'000);
            fill(kept, p.rank());
            for (std::uint64_t round = 0; round < 4; ++round) {
              fill(gone, round);
              if (round > 0) {  // memory is short by now
                std::span<std::byte> const halves[] = {
                    std::as_writable_bytes(std::span(gone).first(30'000)),
                    std::as_writable_bytes(std::span(gone).subspan(30'000))};
                mine.discard(halves);
              }
              p.barrier();
            }
            EXPECT_TRUE(is_filled(kept, p.rank()));
            EXPECT_EQ(std::count(gone.begin() + 8'192, gone.end() - 8'192, 0), 60'000 - 2 * 8'192);
          },
          {.context_bytes = 768_KiB, .workers = 1});
  std::uint64_t const ends = 4 * 64_KiB;  // grains in which other things are too
  EXPECT_LE(report.total().swapped_out_bytes, 12 * (20'000 * 8 + 60'000 * 8 + 4 * ends));
}

TEST(run, leaves_alone_zeros_and_freed_memory) {
  scratch::counted_storage disks(4_MiB);
  run_report const report = run(disks.store, 12,
                                [](processor& p) {
                                  vector<std::uint64_t> const zeros(40'000, 0);
                                  {
                                    vector<std::uint64_t> gone(40'000);
                                    fill(gone, p.rank());
                                  }
                                  p.barrier();
                                  p.barrier();
                                  EXPECT_EQ(std::count(zeros.begin(), zeros.end(), 0), 40'000);
                                },
                                {.context_bytes = 768_KiB, .workers = 1});
  EXPECT_LE(report.total().swapped_out_bytes, 12 * 2 * 64_KiB);
}

TEST(run, has_processors_wait_for_memory_as_they_grow) {
  scratch::counted_storage disks(5_MiB);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    run(disks.store, 9,
        [&](processor& p) {
          std::mt19937_64 random(seed * 100 + p.rank());
          std::vector<vector<std::uint64_t>> held;  // its heads are shared memory
          std::vector<std::uint64_t> seeds;
          for (int step = 0; step < 40; ++step) {
            std::uint64_t in_use = 0;
            for (auto const& each : held) in_use += each.size() * 8 + 8_KiB;
            std::size_t const items = random() % 20'000;
            if (in_use + items * 8 < 350'000) {
              held.emplace_back(items);
              seeds.push_back(random());
              fill(held.back(), seeds.back());
            } else {
              std::size_t const which = random() % held.size();
              ASSERT_TRUE(is_filled(held[which], seeds[which]));
              held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
              seeds.erase(seeds.begin() + static_cast<std::ptrdiff_t>(which));
            }
            if (step % 8 == 7) p.barrier();
          }
          for (std::size_t i = 0; i < held.size(); ++i) ASSERT_TRUE(is_filled(held[i], seeds[i]));
        },
        {.context_bytes = 768_KiB, .workers = 1 + static_cast<std::uint32_t>(seed % 3)});
    expect_nothing_left(disks.store);
  }
}

TEST(run, has_a_thousand_processors) {
  scratch::counted_storage disks(24_MiB);
  std::atomic<std::uint64_t> sum = 0;
  run(disks.store, 1000,
      [&](processor& p) {
        std::uint64_t const mine = p.rank();
        p.barrier();
        sum += mine;
        p.barrier();
        EXPECT_EQ(sum, 499'500U);
      },
      {.context_bytes = 64_KiB, .workers = 2});
}

// ---- failures ----

/// Counts objects whose destructors have not run.
struct counted {
  std::atomic<int>& alive;
  explicit counted(std::atomic<int>& of) : alive(of) { ++alive; }
  counted(counted const&) = delete;
  counted& operator=(counted const&) = delete;
  ~counted() { --alive; }
};

TEST(run, tells_which_processor_threw) {
  scratch::counted_storage disks(3_MiB);
  std::atomic<int> alive = 0;
  try {
    run(disks.store, 10,
        [&](processor& p) {
          counted const one(alive);
          vector<std::uint64_t> numbers(30'000);
          fill(numbers, p.rank());
          p.barrier();
          if (p.rank() == 7) throw std::out_of_range("too far");
          p.barrier();
          ADD_FAILURE() << "went on";
        },
        {.context_bytes = 256_KiB, .workers = 2});
    ADD_FAILURE();
  } catch (bsp_error const& e) {
    EXPECT_EQ(e.rank(), 7U);
    EXPECT_STREQ(e.what(), "virtual processor 7: too far");
    EXPECT_THROW(e.rethrow_nested(), std::out_of_range);
  }
  EXPECT_EQ(alive, 0);
  expect_nothing_left(disks.store);
}

TEST(run, tells_when_all_wait) {
  scratch::counted_storage disks(3_MiB);
  std::atomic<int> alive = 0;
  try {
    run(disks.store, 3, [&](processor& p) {
      counted const one(alive);
      p.barrier();
      if (p.rank() != 1) p.barrier();
      if (p.rank() == 1) p.receive<int>(2, 5);
    });
    ADD_FAILURE();
  } catch (bsp_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("all 3 that have not ended wait"));
    EXPECT_THAT(e.what(), HasSubstr("0 in barrier; 1 in receive from 2, tag 5; 2 in barrier"));
  }
  EXPECT_EQ(alive, 0);
}

TEST(run, tells_when_processors_call_different_operations) {
  scratch::counted_storage disks(3_MiB);
  try {
    run(disks.store, 4, [&](processor& p) {
      if (p.rank() == 2) {
        p.broadcast(1.5, 1);
      } else {
        p.barrier();
      }
    });
    ADD_FAILURE();
  } catch (bsp_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("virtual processor"));
    EXPECT_THAT(e.what(), HasSubstr("broadcast(items of 8 bytes, 1 of them, root 1)"));
    EXPECT_THAT(e.what(), HasSubstr("barrier"));
  }
}

TEST(run, refuses_more_memory_than_a_processor_may_have) {
  scratch::counted_storage disks(3_MiB);
  try {
    run(disks.store, 4,
        [&](processor& p) {
          if (p.rank() == 3) vector<std::uint64_t> const large(100'000);
          p.barrier();
        },
        {.context_bytes = 256_KiB, .workers = 1});
    ADD_FAILURE();
  } catch (bsp_error const& e) {
    EXPECT_EQ(e.rank(), 3U);
    EXPECT_THAT(e.what(), HasSubstr("cannot allocate 800000 bytes"));
    EXPECT_THAT(e.what(), HasSubstr("context_bytes"));
    EXPECT_THROW(e.rethrow_nested(), budget_error);
  }
}

/// Three exchanges with memory that holds few contexts. @return whether a disk failed.
bool fails(storage& store, std::size_t part, run_options const& options) {
  try {
    run(
        store, 6,
        [part](processor& p) {
          vector<std::uint64_t> numbers(6'000);
          fill(numbers, p.rank());
          for (int round = 0; round < 3; ++round) {
            parts<std::uint64_t> out;
            out.items.assign(6 * part, p.rank());
            out.counts.assign(6, part);
            parts<std::uint64_t> const in = p.all_to_all(std::move(out));
            for (std::size_t i = 0; i < 6 * part; ++i) ASSERT_EQ(in.items[i], i / part);
            ASSERT_TRUE(is_filled(numbers, p.rank()));
          }
        },
        options);
  } catch (io_error const&) {
    return true;
  } catch (bsp_error const& e) {
    EXPECT_THROW(e.rethrow_nested(), io_error) << e.what();
    return true;
  }
  return false;
}

TEST(run, ends_in_order_if_disks_fail) {
  for (bool const is_lent : {false, true}) {
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(seed);
      scratch::faulty_storage disks(
          seed % 2 == 0 ? scratch::failing_or_late(seed) : scratch::late(seed), 16_MiB, 4_MiB);
      failed += is_lent
                    ? fails(disks.store, 10'000,
                            {.memory_bytes = 3_MiB + 768_KiB, .context_bytes = 1_MiB, .workers = 1})
                    : fails(disks.store, 500,
                            {.memory_bytes = 900_KiB, .context_bytes = 192_KiB, .workers = 1});
      expect_nothing_left(disks.store);
    }
    EXPECT_GT(failed, 10);
    EXPECT_LE(failed, 30);
  }
}

TEST(run, tells_of_a_full_disk) {
  scratch::faulty_storage disks({}, 512_KiB);
  EXPECT_THROW(run(disks.store, 12,
                   [](processor& p) {
                     vector<std::uint64_t> numbers(10'000);
                     fill(numbers, p.rank());
                     p.barrier();
                   },
                   {.memory_bytes = 900_KiB, .context_bytes = 128_KiB, .workers = 1}),
               io_error);
  expect_nothing_left(disks.store);
}

}  // namespace
}  // namespace outsize::bsp
