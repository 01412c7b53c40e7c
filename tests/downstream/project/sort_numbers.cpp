// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A program that knows the library only as installed: sorts a few numbers and checks their order.

#include <outsize/algorithm/sorter.hpp>

#include <cstdint>

int main() {
  outsize::sorter<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 1000; ++i) numbers.push(i * 7919 % 1000);
  numbers.sort();

  std::uint64_t expected = 0;
  for (; !numbers.empty(); ++numbers, ++expected) {
    if (*numbers != expected) return 1;
  }
  return expected == 1000 ? 0 : 1;
}
