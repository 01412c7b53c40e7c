// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Reads a piece of a file while the program does something else.
//
// The first example of the STXXL paper (Dementiev, Kettner, Sanders 2008, Listing 1): a read is
// issued with a function to be called at its end, other work goes on, then the program waits.

#include <atomic>
#include <cstddef>
#include <iostream>
#include <numeric>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>

int main() {
  using namespace outsize;
  memory_budget memory(2_MiB);
  grant mine = memory.take(2_MiB, "example");
  buffer const written = mine.allocate(1_MiB);  // aligned for direct I/O
  buffer const read_back = mine.allocate(1_MiB);
  for (std::byte& b : written.bytes()) b = std::byte{1};

  auto const queue = io::make_request_queue();  // io_uring, or threads where there is none
  auto const file = io::make_temporary_file(".", *queue);
  file->write(0, written.bytes())->wait();

  std::atomic<std::size_t> completed_bytes = 0;
  auto const reading = file->read(0, read_back.bytes(), [&](io::request const&, io::outcome how) {
    completed_bytes = how.bytes;
  });
  auto const total = [](buffer const& bytes) {
    return std::accumulate(bytes.data(), bytes.data() + bytes.size(), 0,
                           [](int sum, std::byte b) { return sum + std::to_integer<int>(b); });
  };
  int const meanwhile = total(written);  // overlaps with the reading
  reading->wait();                       // throws if it failed

  std::cout << "the callback saw " << completed_bytes << " bytes\n"
            << "sum of what was written " << meanwhile << ", read " << total(read_back) << '\n';
}
