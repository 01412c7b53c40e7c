// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Two ways to sort text: a file of lines by a column, and words one by one.

#include <fstream>
#include <iostream>
#include <string_view>

#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/text/line_sort.hpp>

int main() {
  std::ofstream("rivers.csv") << "Danube,2850\nElbe,1094\nRhine,1233\nVolga,3531\nWeser,451\n";

  // As sort -t, -k2,2nr rivers.csv -o longest.csv does.
  outsize::text::line_order const longest_first({
      .separator = ',',
      .keys = {outsize::text::parse_key("2,2nr")},
  });
  outsize::storage& store = outsize::default_storage();
  outsize::text::sort_lines(store, {{"rivers.csv"}, "longest.csv"}, longest_first);
  std::cout << std::ifstream("longest.csv").rdbuf() << '\n';

  outsize::record_sorter words(store);
  for (std::string_view word : {"run", "block", "item", "disk", "block"}) words.push(word);
  for (words.sort(); !words.empty(); ++words) std::cout << *words << '\n';
}
