// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A loop: the suffix array of a text by doubling. Each step sorts places by the names of the two
// stretches that begin there and adjoin, and so names the stretches of twice the length.

#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/streams.hpp>

/// A stretch of the text at `place`: its own name, and that of the stretch behind it.
struct stretch {
  std::uint64_t place, name, next;
};
struct named {
  std::uint64_t place, name;
};

int main() {
  using namespace outsize::stream;
  using outsize::operator""_MiB;
  outsize::storage store({.memory_bytes = 16_MiB});
  std::string text;
  for (std::uint32_t i = 0; i < 20'000; ++i) text += static_cast<char>('a' + i * i % 7 % 3);

  auto const first_name = [](enumerated<char> const& e) {
    return named{e.index, static_cast<std::uint64_t>(e.item)};
  };
  auto const by_names = [](stretch const& a, stretch const& b) {
    return std::tie(a.name, a.next) < std::tie(b.name, b.next);
  };
  outsize::vector<named> names(store);
  run(store, from(text) | enumerate() | transform(first_name) | into(names));

  std::uint64_t different = 0;
  for (std::uint64_t length = 1; different < text.size(); length *= 2) {
    // Stretches that adjoin are neighbours in this order.
    auto const by_place = [length](named const& a, named const& b) {
      return std::tuple(a.place % length, a.place) < std::tuple(b.place % length, b.place);
    };
    auto const pair_up = [length](neighbours<named> const& n) {
      bool const adjoin = n.second.place == n.first.place + length;
      return stretch{n.first.place, n.first.name, adjoin ? n.second.name : 0};
    };
    // The name of a stretch is the number of the first equal one, in order.
    auto const rename = [&different, last = stretch{}, name = std::uint64_t{0},
                         i = std::uint64_t{0}](stretch const& s) mutable {
      if (++i == 1 || s.name != last.name || s.next != last.next) {
        name = i;
        ++different;
      }
      last = s;
      return named{s.place, name};
    };
    different = 0;
    outsize::vector<named> renamed(store);
    run(store, concat(from(names) | sort(by_place), from(std::vector<named>{{0, 0}})) | adjacent() |
                   transform(pair_up) | sort(by_names) | transform(rename) | into(renamed));
    names = std::move(renamed);
  }
  std::cout << "the first suffix begins at " << names.front().place << '\n';
}
