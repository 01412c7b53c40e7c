// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What a sort takes on simulated disks: more disks and larger blocks must pay.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/simulated_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/simulation/rotating_disk.hpp>

namespace outsize {
namespace {

using disk_ptr = std::shared_ptr<io::simulated_disk>;

disk_options as_storage_disk(disk_ptr const& disk) {
  return {"simulated", [disk](io::request_queue&) -> io::file_ptr {
            return std::make_unique<io::simulated_file>(
                io::make_memory_file("simulated", disk->capacity_bytes()), disk);
          }};
}

/// The parallel I/O time of sorting 800 kB with a quarter of that in memory.
std::chrono::duration<double> sort_time(std::size_t disk_count, std::size_t block_bytes) {
  std::vector<disk_ptr> disks;
  storage_options all{.memory_bytes = 4_MiB, .threads = 1};
  for (std::size_t d = 0; d < disk_count; ++d) {
    disks.push_back(std::make_shared<io::simulated_disk>(std::make_unique<io::rotating_disk>()));
    all.disks.push_back(as_storage_disk(disks.back()));
  }
  storage store(all);
  std::size_t const count = 100'000;
  sorter<std::uint64_t> s(
      store, {}, {.memory_bytes = 256_KiB, .block_bytes = block_bytes, .input_bytes = count * 8});
  std::mt19937_64 random(count);
  for (std::size_t i = 0; i < count; ++i) s.push(random());
  std::size_t items = 0;
  for (s.sort(); !s.empty(); ++s) ++items;
  EXPECT_EQ(items, count);
  auto const slowest =
      std::ranges::max_element(disks, {}, [](disk_ptr const& disk) { return disk->elapsed(); });
  return (*slowest)->elapsed();
}

TEST(simulated_disks, four_disks_sort_in_about_a_quarter_of_the_time) {
  auto const one = sort_time(1, 4096);
  auto const four = sort_time(4, 4096);
  EXPECT_LT(four, 0.45 * one);
  EXPECT_GT(four, 0.15 * one);
}

TEST(simulated_disks, blocks_of_twice_the_size_take_little_more_than_half_the_time) {
  EXPECT_LT(sort_time(1, 8192), 0.8 * sort_time(1, 4096));
}

}  // namespace
}  // namespace outsize
