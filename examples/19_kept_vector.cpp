// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A vector whose file has what was flushed last, however the process ends, and access to many of
// its items at once.

#include <cstdint>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>

int main() {
  using namespace outsize;
  using balances = outsize::vector<std::int64_t>;
  storage store({.memory_bytes = 8_MiB});
  std::string const path = "balances";

  {
    auto accounts = balances::create(path, store, {.page_bytes = 4_KiB});
    accounts.resize(500'000, 100);
    accounts.flush();  // from here on, this is what a crash leaves

    // A day's transfers: each page with one of the accounts is read once, many at the same time.
    std::vector<std::uint64_t> from, to;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      from.push_back(i * 7919 % 250'000);
      to.push_back(250'000 + i * 104'729 % 250'000);
    }
    std::vector<std::int64_t> amounts(from.size());
    accounts.read_many(from, amounts);
    for (auto& amount : amounts) amount -= 30;
    accounts.write_many(from, amounts);
    accounts.read_many(to, amounts);
    for (auto& amount : amounts) amount += 30;
    accounts.write_many(to, amounts);
    accounts.close();  // all of the transfers or, if the process ends before, none
  }

  auto const again = balances::open(path, store, io::access::read_only);
  std::cout << (again.was_closed() ? "closed" : "not closed") << ", " << again.size()
            << " accounts, " << std::accumulate(again.begin(), again.end(), std::int64_t{0})
            << " in all\n";
}
