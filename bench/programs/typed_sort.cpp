// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks sort-pair and sort-lambda: items of C++ types, sorted from file to file.
//
//   typed_sort sort pair|lambda IN OUT MEMORY_BYTES THREADS DIRECTORY
//   typed_sort check pair|lambda IN OUT           whether OUT is IN in order; also of the peers
//
// Each prints one JSON object.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <ios>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <bench/programs/typed_items.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/multiset_checksum.hpp>
#include <tools/outsize/sort_trace.hpp>

namespace {

using namespace outsize;

struct job {
  std::string in, out;
  std::uint64_t memory_bytes = 0;
  std::size_t threads = 0;
  std::string directory;
};

template <typename Item, typename Less>
int sort_file(job const& work, Less less) {
  auto const begin = std::chrono::steady_clock::now();
  storage store(
      {.disks = {work.directory}, .memory_bytes = work.memory_bytes, .threads = work.threads});
  auto const report = sort(store, items<Item>(work.in), into(work.out), less);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  auto const moved = store.total_statistics();
  fmt::print(
      "{{\"seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"runs\": {}, \"passes\": {}, \"networks\": {}}}\n",
      took.count(), static_cast<double>(moved.wait_ns) * 1e-9, moved.read_bytes, moved.write_bytes,
      report.runs, report.passes, tool::sort_networks_json(report).dump());
  return 0;
}

/// The items of a file, one after another.
template <typename Item>
class item_reader {
 public:
  explicit item_reader(std::string const& path) : file_(path, std::ios::binary), path_(path) {
    if (!file_) throw std::runtime_error(path + ": cannot be opened");
  }
  bool next(Item& into) {
    if (at_ == have_) {
      file_.read(reinterpret_cast<char*>(buffer_.data()),
                 static_cast<std::streamsize>(buffer_.size() * sizeof(Item)));
      auto const bytes = static_cast<std::size_t>(file_.gcount());
      if (bytes % sizeof(Item) != 0) throw std::runtime_error(path_ + ": an item is cut short");
      have_ = bytes / sizeof(Item);
      at_ = 0;
      if (have_ == 0) return false;
    }
    into = buffer_[at_++];
    return true;
  }

 private:
  std::ifstream file_;
  std::string path_;
  std::vector<Item> buffer_ = std::vector<Item>(1 << 16);
  std::size_t at_ = 0, have_ = 0;
};

template <typename Item>
void add(tool::multiset_checksum& sum, Item const& item) {
  sum.add({reinterpret_cast<char const*>(&item), sizeof item});
}

template <typename Item, typename Less>
int check_file(job const& work, Less less) {
  tool::multiset_checksum given, found;
  bool ordered = true;
  Item item{};
  for (item_reader<Item> in(work.in); in.next(item);) add(given, item);
  std::optional<Item> last;
  for (item_reader<Item> out(work.out); out.next(item); last = item) {
    add(found, item);
    ordered = ordered && !(last && less(item, *last));
  }
  bool const good = ordered && given == found;
  fmt::print("{{\"verified\": {}}}\n", good);
  return good ? 0 : 1;
}

int run(std::string_view what, std::string_view kind, job const& work) {
  bool const checks = what == "check";
  if (kind == "pair") {
    auto const less = by(&typed::pair::key);
    return checks ? check_file<typed::pair>(work, less) : sort_file<typed::pair>(work, less);
  }
  if (kind == "lambda") {
    auto const less = typed::by_group(!work.in.empty());  // true, but not to the compiler
    return checks ? check_file<typed::triple>(work, less) : sort_file<typed::triple>(work, less);
  }
  throw std::invalid_argument(fmt::format("'{}' is no kind", kind));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const words(argv + 1, argv + argc);
  try {
    if (words.size() == 4 && words[0] == "check")
      return run(words[0], words[1], {.in = words[2], .out = words[3], .directory = {}});
    if (words.size() == 7 && words[0] == "sort")
      return run(words[0], words[1],
                 {words[2], words[3], std::strtoull(words[4].c_str(), nullptr, 10),
                  std::strtoull(words[5].c_str(), nullptr, 10), words[6]});
    fmt::print(stderr, "usage: typed_sort sort|check pair|lambda IN OUT [MEMORY THREADS DIR]\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "typed_sort: {}\n", e.what());
  }
  return 2;
}
