// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The C interface: the effect of each function, by values that depend on ranks; and misuse.

#include <outsize/bsp/em.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;
using testing::HasSubstr;

constexpr int processors = 7;

struct place {
  int rank = 0, count = 0;
};
place mine(EM_Comm comm = EM_COMM_WORLD) {
  place p;
  EM_Comm_rank(comm, &p.rank);
  EM_Comm_size(comm, &p.count);
  return p;
}

/// Runs a program on processors whose contexts do not all fit into memory. Returns EM_Message().
std::string run_all(void (*program)(void*), void* argument = nullptr) {
  scratch::directory const folder;
  std::string const path = folder.path();
  EM_Options const options = {
      .directories = path.c_str(), .memory_bytes = 3_MiB, .context_bytes = 384_KiB, .workers = 2};
  int const code = EM_Run(processors, program, argument, &options);
  EXPECT_EQ(code, *EM_Message() == '\0' ? EM_SUCCESS : EM_FAILED);
  EXPECT_TRUE(folder.names().empty());
  return EM_Message();
}

TEST(em, has_memory_that_belongs_to_each) {
  EXPECT_EQ(run_all([](void*) {
              auto* numbers = static_cast<std::int64_t*>(EM_malloc(200'000));
              for (int i = 0; i < 25'000; ++i) numbers[i] = mine().rank * 100'000 + i;
              auto* const zeros = static_cast<char*>(EM_calloc(100, 100));
              EM_Barrier(EM_COMM_WORLD);
              EXPECT_EQ(std::count(zeros, zeros + 10'000, 0), 10'000);
              EM_free(zeros);
              numbers = static_cast<std::int64_t*>(EM_realloc(numbers, 250'000));
              EM_Barrier(EM_COMM_WORLD);
              for (int i = 0; i < 25'000; ++i) ASSERT_EQ(numbers[i], mine().rank * 100'000 + i);
              EXPECT_EQ(EM_malloc(1'000'000), nullptr);
              EM_free(numbers);
              EM_free(nullptr);
            }),
            "");
}

TEST(em, broadcasts_and_reduces) {
  EXPECT_EQ(run_all([](void*) {
              auto const [rank, count] = mine();
              std::vector<std::int32_t> numbers(3'000, rank);
              EM_Bcast(numbers.data(), 3'000, EM_INT, 3, EM_COMM_WORLD);
              EXPECT_EQ(numbers, std::vector<std::int32_t>(3'000, 3));
              double const own[] = {1.0 * rank, -2.0 * rank};
              double sums[] = {-1, -1};
              EM_Reduce(own, sums, 2, EM_DOUBLE, EM_SUM, 2, EM_COMM_WORLD);
              EXPECT_EQ(sums[0], rank == 2 ? 21.0 : -1.0);
              EM_Allreduce(own, sums, 2, EM_DOUBLE, EM_MIN, EM_COMM_WORLD);
              EXPECT_EQ(sums[1], -12.0);
              std::uint64_t bits = std::uint64_t{1} << rank;
              EM_Allreduce(EM_IN_PLACE, &bits, 1, EM_UINT64_T, EM_BOR, EM_COMM_WORLD);
              EXPECT_EQ(bits, 127U);
              long scanned = 0;
              long const one = rank + 1;
              EM_Scan(&one, &scanned, 1, EM_LONG, EM_PROD, EM_COMM_WORLD);
              long expected = 1;
              for (int i = 0; i <= rank; ++i) expected *= i + 1;
              EXPECT_EQ(scanned, expected);
              scanned = -1;
              EM_Exscan(&one, &scanned, 1, EM_LONG, EM_SUM, EM_COMM_WORLD);
              EXPECT_EQ(scanned, rank == 0 ? -1 : rank * (rank + 1) / 2);
            }),
            "");
}

TEST(em, gathers_and_scatters) {
  EXPECT_EQ(
      run_all([](void*) {
        auto const [rank, count] = mine();
        int const own[] = {rank, 10 * rank};
        std::vector<int> all(14, -1);
        EM_Gather(own, 2, EM_INT, all.data(), 2, EM_INT, 1, EM_COMM_WORLD);
        for (int i = 0; i < 14; ++i) {
          EXPECT_EQ(all[static_cast<std::size_t>(i)], rank != 1    ? -1
                                                      : i % 2 == 0 ? i / 2
                                                                   : i / 2 * 10);
        }
        int back[2] = {};
        EM_Scatter(all.data(), 2, EM_INT, back, 2, EM_INT, 1, EM_COMM_WORLD);
        EXPECT_EQ(back[1], 10 * rank);
        EM_Allgather(own, 1, EM_INT, all.data(), 1, EM_INT, EM_COMM_WORLD);
        EXPECT_EQ(all[5], 5);
        std::int64_t const counts[] = {0, 1, 2, 1, 0, 2, 1};
        std::int64_t const places[] = {0, 12, 0, 4, 0, 6, 10};
        std::fill(all.begin(), all.end(), -1);
        EM_Allgatherv(own, counts[rank], EM_INT, all.data(), counts, places, EM_INT, EM_COMM_WORLD);
        EXPECT_EQ(all, (std::vector{2, 20, -1, -1, 3, -1, 5, 50, -1, -1, 6, -1, 1, -1}));
        std::fill(all.begin(), all.end(), -1);
        EM_Gatherv(own, counts[rank], EM_INT, all.data(), counts, places, EM_INT, 6, EM_COMM_WORLD);
        EXPECT_EQ(all[7], rank == 6 ? 50 : -1);
        EM_Scatterv(all.data(), counts, places, EM_INT, back, counts[rank], EM_INT, 6,
                    EM_COMM_WORLD);
        if (counts[rank] > 1) {
          EXPECT_EQ(back[1], 10 * rank);
        }
      }),
      "");
}

TEST(em, exchanges_with_all) {
  EXPECT_EQ(run_all([](void*) {
              auto const [rank, count] = mine();
              std::vector<int> out(processors), in(processors);
              for (int to = 0; to < count; ++to) out[static_cast<std::size_t>(to)] = rank * 10 + to;
              EM_Alltoall(out.data(), 1, EM_INT, in.data(), 1, EM_INT, EM_COMM_WORLD);
              for (int from = 0; from < count; ++from) {
                EXPECT_EQ(in[static_cast<std::size_t>(from)], from * 10 + rank);
              }
              // rank sends `to` thousand items to each, from the end of a buffer to its beginning
              std::vector<std::int64_t> out_counts, out_places, in_counts, in_places;
              std::int64_t place = 21'000;
              for (int to = 0; to < count; ++to) {
                out_counts.push_back(to * 1'000);
                out_places.push_back(place -= to * 1'000);
                in_counts.push_back(rank * 1'000);
                in_places.push_back(to * rank * 1'000);
              }
              auto* const big_out = static_cast<std::int16_t*>(EM_malloc(42'000));
              auto* const big_in = static_cast<std::int16_t*>(EM_malloc(84'000));
              for (int i = 0; i < 21'000; ++i) big_out[i] = static_cast<std::int16_t>(rank * 1'000);
              EM_Alltoallv(big_out, out_counts.data(), out_places.data(), EM_SHORT, big_in,
                           in_counts.data(), in_places.data(), EM_SHORT, EM_COMM_WORLD);
              for (int i = 0; i < 7'000 * rank; ++i) {
                ASSERT_EQ(big_in[i], i / (rank * 1'000) * 1'000);
              }
              EM_Discard(big_in, 84'000);
              EM_Alltoallv_balanced(big_out, out_counts.data(), out_places.data(), EM_SHORT, big_in,
                                    in_counts.data(), in_places.data(), EM_SHORT, EM_COMM_WORLD);
              for (int i = 0; i < 7'000 * rank; ++i) {
                ASSERT_EQ(big_in[i], i / (rank * 1'000) * 1'000);
              }
            }),
            "");
}

TEST(em, sends_within_communicators) {
  EXPECT_EQ(run_all([](void*) {
              auto const [rank, count] = mine();
              EM_Comm part = EM_COMM_NULL;
              EM_Comm_split(EM_COMM_WORLD, rank == 6 ? EM_UNDEFINED : rank % 2, -rank, &part);
              EXPECT_EQ(part == EM_COMM_NULL, rank == 6);
              if (part == EM_COMM_NULL) return;
              place const here = mine(part);
              EXPECT_EQ(here.count, 3);
              EXPECT_EQ(here.rank, (5 - rank) / 2);
              EM_Send(&rank, 1, EM_INT, (here.rank + 1) % 3, 5, part);
              int got[4] = {-1, -1, -1, -1};
              EM_Status status = {};
              EM_Recv(got, 4, EM_INT, EM_ANY_SOURCE, EM_ANY_TAG, part, &status);
              EXPECT_EQ(status.EM_SOURCE, (here.rank + 2) % 3);
              EXPECT_EQ(status.EM_TAG, 5);
              EXPECT_EQ(status.bytes, 4);
              EXPECT_EQ(got[0], 5 - 2 * status.EM_SOURCE - (rank % 2 == 0 ? 1 : 0));
            }),
            "");
}

TEST(em, tells_of_misuse) {
  EXPECT_THAT(run_all([](void*) {
                int number = 0;
                EM_Bcast(&number, 1, EM_INT, mine().rank == 4 ? 9 : 0, EM_COMM_WORLD);
              }),
              HasSubstr("virtual processor 4: EM_Bcast: there is no rank 9 among 7"));
  EXPECT_THAT(run_all([](void*) {
                double number = 0;
                EM_Allreduce(&number, &number, 1, EM_DOUBLE, EM_BAND, EM_COMM_WORLD);
              }),
              HasSubstr("operation 7 is not defined for type"));
  EXPECT_THAT(run_all([](void*) {
                int numbers[4] = {};
                if (mine().rank == 0) EM_Send(numbers, 4, EM_INT, 1, 0, EM_COMM_WORLD);
                if (mine().rank == 1) {
                  EM_Recv(numbers, 3, EM_INT, 0, 0, EM_COMM_WORLD, EM_STATUS_IGNORE);
                }
              }),
              HasSubstr("virtual processor 1: EM_Recv: rank 0 sent 16 bytes for a buffer of 3"));
  EXPECT_THAT(run_all([](void*) {
                if (mine().rank == 0) {
                  EM_Barrier(EM_COMM_WORLD);
                } else {
                  int number = 0;
                  EM_Bcast(&number, 1, EM_INT, 0, EM_COMM_WORLD);
                }
              }),
              HasSubstr("others of its group"));
  EXPECT_THAT(run_all([](void*) {
                if (mine().rank == 5) EM_Abort(EM_COMM_WORLD, 17);
                EM_Barrier(EM_COMM_WORLD);
              }),
              HasSubstr("virtual processor 5: EM_Abort: code 17"));
  EXPECT_THAT(run_all([](void*) {
                int rank = 0;
                EM_Comm_rank(12, &rank);
              }),
              HasSubstr("12 is not a communicator"));
  EXPECT_EQ(EM_Run(
                0, [](void*) {}, nullptr, nullptr),
            EM_FAILED);
}

TEST(em, gives_the_argument_to_all) {
  std::atomic<int> calls = 0;
  EXPECT_EQ(run_all([](void* to) { ++*static_cast<std::atomic<int>*>(to); }, &calls), "");
  EXPECT_EQ(calls, processors);
}

}  // namespace
}  // namespace outsize::bsp
