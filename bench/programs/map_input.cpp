// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Writes the sorted file of entries that maps are built from: map_input BYTES FILE

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "map_workload.hpp"

int main(int argc, char** argv) {
  using namespace map_workload;
  if (argc != 3) {
    std::fprintf(stderr, "usage: map_input BYTES FILE\n");
    return 2;
  }
  sorted_entries const all(workload(std::strtoull(argv[1], nullptr, 10)), "");
  std::ofstream file(argv[2], std::ios::binary);
  std::vector<entry> chunk(std::size_t{1} << 15);
  for (std::uint64_t first = 0; first < all.count() && file; first += chunk.size()) {
    all.read(first, chunk);
    file.write(reinterpret_cast<char const*>(chunk.data()),
               static_cast<std::streamsize>(chunk.size() * sizeof(entry)));
  }
  if (!file.flush()) {
    std::fprintf(stderr, "map_input: %s cannot be written\n", argv[2]);
    return 2;
  }
  return 0;
}
