// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A storage of one's own: two disks, a memory budget, and the I/O of one phase of the work.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>

int main() {
  using namespace outsize::literals;
  std::filesystem::create_directories("disk0");
  std::filesystem::create_directories("disk1");
  outsize::storage store({.disks = {"disk0", "disk1"}, .memory_bytes = 4_MiB, .threads = 2});

  // More memory than the budget has is refused, before anything is done.
  try {
    outsize::sorter<double> greedy(store, {}, {.memory_bytes = 1_GiB});
  } catch (outsize::budget_error const& e) {
    std::cout << e.asker() << " needs " << e.need_bytes() << ", there are " << e.have_bytes()
              << '\n';
  }

  auto const before = store.total_statistics();
  outsize::sorter<double, std::greater<>> numbers(store);
  for (int i = 0; i < 1'000'000; ++i) numbers.push(i * 0.5);
  numbers.sort();
  std::cout << "greatest: " << *numbers << '\n';
  while (!numbers.empty()) numbers.skip(numbers.pull().size());
  auto const moved = store.total_statistics() - before;

  std::cout << "read as much as written: " << (moved.read_bytes == moved.write_bytes ? "yes" : "no")
            << '\n';
  for (std::uint32_t d = 0; d < store.disk_count(); ++d)
    std::cout << store.disk_name(d) << " has done its part: "
              << (store.disk_statistics(d).write_bytes > 1_MiB ? "yes" : "no") << '\n';
}
