// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmark sort-memory: the u64 of a file that fit in memory, sorted there.
//
//   memory_sort outsize|std IN OUT MEMORY_BYTES THREADS DIRECTORY
//
// Reads IN to a vector, sorts that, writes it to OUT. The clock runs for the sorting alone:
// outsize::sort from the vector to the vector, with the memory that the vector leaves, which is an
// error where something has to go to DIRECTORY; or std::sort. Prints one JSON object.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/algorithm/sort.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/sort_trace.hpp>

namespace {

using namespace outsize;
using numbers = std::vector<std::uint64_t>;

struct job {
  std::string how, in, out;
  std::uint64_t memory_bytes = 0;
  std::size_t threads = 0;
  std::string directory;
};

numbers read_file(std::string const& path) {
  numbers items(std::filesystem::file_size(path) / sizeof(std::uint64_t));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(items.data()),
            static_cast<std::streamsize>(items.size() * sizeof(std::uint64_t)));
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return items;
}

void write_file(std::string const& path, numbers const& items) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<char const*>(items.data()),
             static_cast<std::streamsize>(items.size() * sizeof(std::uint64_t)));
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

sort_report sort_by_outsize(job const& work, numbers& items) {
  std::uint64_t const item_bytes = items.size() * sizeof(std::uint64_t);
  if (item_bytes >= work.memory_bytes) throw std::runtime_error("the items fill the memory");
  storage store({.disks = {work.directory},
                 .memory_bytes = work.memory_bytes - item_bytes,
                 .threads = work.threads});
  auto report = sort(store, items, items.begin());
  if (report.runs != 0) throw std::runtime_error("there is too little memory to sort the items in");
  return report;
}

void run(job const& work) {
  numbers items = read_file(work.in);
  sort_report report;
  auto const begin = std::chrono::steady_clock::now();
  if (work.how == "std") {
    std::ranges::sort(items);
  } else if (work.how == "outsize") {
    report = sort_by_outsize(work, items);
  } else {
    throw std::invalid_argument(fmt::format("'{}' is no way to sort", work.how));
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  write_file(work.out, items);
  fmt::print("{{\"seconds\": {}, \"networks\": {}}}\n", took.count(),
             tool::sort_networks_json(report).dump());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const words(argv + 1, argv + argc);
  try {
    if (words.size() != 6)
      throw std::invalid_argument("usage: memory_sort outsize|std IN OUT MEMORY THREADS DIR");
    run({words[0], words[1], words[2], std::strtoull(words[3].c_str(), nullptr, 10),
         std::strtoull(words[4].c_str(), nullptr, 10), words[5]});
    return 0;
  } catch (std::exception const& e) {
    fmt::print(stderr, "memory_sort: {}\n", e.what());
  }
  return 2;
}
