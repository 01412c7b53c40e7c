// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The most frequent stretches of k letters in a FASTA file, counted without keeping them in memory.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/stream/streams.hpp>

constexpr unsigned k = 8;

struct tally {
  std::uint64_t kmer, count;
};

/// The k letters that end at each letter, two bits for each; lines of a sequence belong together.
class kmers_of_lines {
 public:
  std::vector<tally> operator()(std::string_view line) {
    std::vector<tally> found;
    if (line.starts_with('>')) letters_ = 0;
    for (char const c : line.starts_with('>') ? std::string_view() : line) {
      auto const code = std::string_view("ACGT").find(c);
      if (code == std::string_view::npos) {
        letters_ = 0;
        continue;
      }
      window_ = (window_ << 2 | code) & ((1U << 2 * k) - 1);
      if (++letters_ >= k) found.push_back({window_, 1});
    }
    return found;
  }

 private:
  std::uint64_t window_ = 0;
  std::uint64_t letters_ = 0;
};

std::string text_of(std::uint64_t kmer) {
  std::string text(k, ' ');
  for (unsigned i = k; i-- > 0; kmer >>= 2) text[i] = "ACGT"[kmer & 3];
  return text;
}

int main() {
  using namespace outsize::stream;
  using outsize::by;
  using outsize::operator""_MiB;
  {
    std::ofstream fasta("genome.fa");
    std::uint64_t x = 1;
    for (int line = 0; line < 5000; ++line) {
      if (line % 1000 == 0) fasta << ">sequence " << line / 1000 << '\n';
      for (int i = 0; i < 70; ++i, x = x * 6364136223846793005 + 1) fasta << "ACGT"[x >> 62];
      fasta << '\n';
    }
  }
  outsize::storage store({.memory_bytes = 16_MiB});
  auto const sum = [](tally const& a, tally const& b) { return tally{a.kmer, a.count + b.count}; };
  auto const more_often = [](tally const& a, tally const& b) {
    return a.count != b.count ? a.count > b.count : a.kmer < b.kmer;
  };
  std::vector<tally> most;
  run(store, lines("genome.fa") | flat_map(kmers_of_lines()) |
                 reduce_by_key(by(&tally::kmer), sum) | top(3, more_often) |
                 into(std::back_inserter(most)));
  for (auto const& t : most) std::cout << text_of(t.kmer) << ' ' << t.count << '\n';
}
