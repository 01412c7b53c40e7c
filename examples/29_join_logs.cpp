// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Two logs, of requests and of errors, joined by the number of the request; quick requests are left
// out before anything is sorted.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/stream/streams.hpp>

struct request {
  std::uint64_t number, milliseconds;
};
struct failure {
  std::uint64_t number, code;
};

/// Two numbers of a line.
template <typename Entry>
Entry parsed(std::string_view line) {
  Entry e{};
  std::istringstream in{std::string(line)};
  if constexpr (requires { e.code; }) {
    in >> e.number >> e.code;
  } else {
    in >> e.number >> e.milliseconds;
  }
  return e;
}

int main() {
  using namespace outsize::stream;
  using outsize::by;
  using outsize::operator""_MiB;
  {
    std::ofstream requests("requests.log"), failures("failures.log");
    for (std::uint64_t i = 0; i < 50'000; ++i)
      requests << i * 7919 % 50'000 << ' ' << i % 900 << '\n';
    for (std::uint64_t i = 0; i < 5'000; ++i)
      failures << i * 4001 % 50'000 << ' ' << 500 + i % 5 << '\n';
  }
  outsize::storage store({.memory_bytes = 16_MiB});
  auto slow = lines("requests.log") | transform(parsed<request>) |
              filter([](request const& r) { return r.milliseconds >= 800; }) |
              sort(by(&request::number));
  auto failed = lines("failures.log") | transform(parsed<failure>) | sort(by(&failure::number));
  auto const describe = [](request const& r, failure const& f) {
    return std::to_string(r.number) + " took " + std::to_string(r.milliseconds) +
           " ms and failed with " + std::to_string(f.code);
  };
  run(store,
      merge_join(std::move(slow), std::move(failed), &request::number, &failure::number, describe) |
          into_lines("slow-and-failed.txt"));

  std::ifstream result("slow-and-failed.txt");
  std::size_t count = 0;
  std::string line, first;
  for (; std::getline(result, line); ++count)
    if (count == 0) first = line;
  std::cout << first << "\nand " << count - 1 << " more\n";
}
