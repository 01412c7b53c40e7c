// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A vector larger than its memory: the standard library's algorithms work on it, and it may be a
// file of its user's.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 4_MiB});

  outsize::vector<std::uint64_t> squares(store, {.page_bytes = 16_KiB});
  for (std::uint64_t i = 0; i < 1'000'000; ++i) squares.push_back(i * i % 1009);

  std::reverse(squares.begin(), squares.end());
  squares.erase(std::unique(squares.begin(), squares.end()), squares.end());

  // Constant access changes nothing, so that nothing needs to be written.
  auto const& fixed = std::as_const(squares);
  std::cout << "sum " << std::accumulate(fixed.begin(), fixed.end(), std::uint64_t{0}) << ", zeros "
            << std::count(fixed.begin(), fixed.end(), 0U) << '\n';

  // Page by page, for loops that must be fast.
  std::uint64_t greatest = 0;
  for (vector_reader in(fixed); !in.empty(); in.skip(in.pull().size()))
    greatest = std::max(greatest, *std::ranges::max_element(in.pull()));
  if (greatest != 1008 || squares[0] == squares[1]) return 1;
  std::cout << "greatest " << greatest << '\n';

  // A file of items, which other programs can read.
  auto in_file = outsize::vector<std::uint64_t>::create_plain("primes", store);
  for (std::uint64_t const prime : {2, 3, 5, 7, 11}) in_file.push_back(prime);
  in_file.close();
  std::cout << std::filesystem::file_size("primes") << " bytes, the last item is "
            << outsize::vector<std::uint64_t>::open_plain("primes", store).back() << '\n';
}
