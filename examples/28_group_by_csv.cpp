// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Turnover by country, from a CSV file that may be larger than memory. Equal countries are added up
// as early as they meet.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/stream/streams.hpp>

struct turnover {
  char country[24];
  std::uint64_t cents;
};

int main() {
  using namespace outsize::stream;
  using outsize::operator""_MiB;
  std::ofstream orders("orders.csv");
  orders << "order,country,cents\n";
  for (std::uint64_t i = 0; i < 100'000; ++i)
    orders << i
           << (i % 3 == 0   ? ",\"Bosnia, Herzegovina\","
               : i % 3 == 1 ? ",Chile,"
                            : ",Ghana,")
           << i % 1000 << '\n';
  orders.close();

  outsize::storage store({.memory_bytes = 16_MiB});
  auto const parse = [](csv_record const& order) {
    turnover t{{}, std::strtoull(std::string(order.field(2)).c_str(), nullptr, 10)};
    auto const country = order.field(1);
    std::memcpy(t.country, country.data(), std::min(country.size(), sizeof t.country - 1));
    return t;
  };
  auto const by_country = [](turnover const& a, turnover const& b) {
    return std::strcmp(a.country, b.country) < 0;
  };
  auto const sum = [](turnover a, turnover const& b) {
    a.cents += b.cents;
    return a;
  };
  std::vector<turnover> all;
  run(store, csv("orders.csv", {.header = true}) | transform(parse) |
                 reduce_by_key(by_country, sum) | into(std::back_inserter(all)));
  for (auto const& t : all) std::cout << t.country << ": " << t.cents << '\n';
}
