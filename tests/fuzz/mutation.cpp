// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "mutation.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace outsize::fuzz {
namespace {

constexpr std::size_t most_bytes = 4096;

std::size_t below(std::size_t limit, std::mt19937_64& random) {
  return limit == 0 ? 0 : random() % limit;
}

/// A stretch of the text, mostly short.
std::string_view stretch(std::string_view text, std::mt19937_64& random) {
  auto const begin = below(text.size() + 1, random);
  return text.substr(begin, below(random() % 4 == 0 ? text.size() + 1 : 9, random));
}

void change(std::string& text, std::string_view other, std::mt19937_64& random) {
  constexpr std::string_view meaningful("\0\n\r\t ,;:.\"'#=-0129aBnr\x7f\x80\xff", 26);
  auto const at = below(text.size(), random);
  auto const part = stretch(std::string_view(text).substr(at), random);
  switch (random() % 6) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (!text.empty()) text[at] = meaningful[below(meaningful.size(), random)];
      break;
    case 2:
      text.erase(at, part.size());
      break;
    case 3:
      text.insert(at, std::string(part));
      break;
    case 4:
      text.insert(at, 1, meaningful[below(meaningful.size(), random)]);
      break;
    default:
      text.replace(at, part.size(), stretch(other, random));
  }
}

}  // namespace

std::string mutated(std::vector<std::string> const& seeds, std::mt19937_64& random) {
  auto made = seeds[below(seeds.size(), random)];
  for (auto changes = 1 + random() % 8; changes > 0; --changes)
    change(made, seeds[below(seeds.size(), random)], random);
  made.resize(std::min(made.size(), most_bytes));
  return made;
}

}  // namespace outsize::fuzz
