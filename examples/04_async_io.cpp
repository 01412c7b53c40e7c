// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Reads a piece of a file while the program does something else.
//
// The first example of the STXXL paper (Dementiev, Kettner, Sanders 2008, Listing 1): a read is
// issued with a function to be called at its end, other work goes on, then the program waits.

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>

int main() {
  using namespace outsize;
  std::ofstream("storage") << std::string(3_MiB, '$');  // for this program to find

  memory_budget memory(1_MiB);
  grant mine = memory.take(1_MiB, "example");
  buffer const piece = mine.allocate(1_MiB);  // aligned for direct I/O

  auto const queue = io::make_request_queue();  // io_uring, or threads where there is none
  auto const file = io::open_file("storage", *queue, {.mode = io::access::read_only});
  auto const reading =
      file->read(0, piece.bytes(), [](io::request const& request, io::outcome how) {
        std::cout << "read of " << request.length_bytes() << " bytes at " << request.offset_bytes()
                  << " completed: " << (how.ok() ? "all is well" : "it failed") << '\n';
      });
  int primes = 0;  // overlaps with the reading
  for (int n = 2; n < 1000; ++n) {
    int factor = 2;
    while (n % factor != 0) ++factor;
    if (factor == n) ++primes;
  }
  reading->wait();  // throws if it failed

  std::cout << "meanwhile " << primes << " primes were found\n"
            << "dollars in the piece: " << std::ranges::count(piece.bytes(), std::byte{'$'})
            << '\n';
}
