// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// One point of a sweep over sorts: generated items are pushed into a sorter and pulled out of it in
// order, with its temporary blocks in a folder or on simulated disks.
//
//   sort_point NAME=NUMBER…                      size, memory, element, block, threads, disks
//   sort_point NAME=NUMBER… directory=PATH       disks=0: blocks are in that folder
//
// Prints one JSON object. The input is generated, so that what is written and read is the
// sort's own: everything once each, in the two phases that are timed apart. Source: Dementiev,
// Kettner, Sanders: STXXL, 2008, Figures 15 to 19.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/detail/mixed_bits.hpp>
#include <outsize/block/storage.hpp>

#include "simulated_disks.hpp"

namespace {

using namespace outsize;

struct point {
  std::uint64_t size_bytes = 256 << 20;
  std::uint64_t memory_bytes = 32 << 20;
  std::uint64_t element_bytes = 8;
  std::uint64_t block_bytes = 0;  // 0: the sort chooses
  std::uint64_t threads = 1;
  std::uint64_t disks = 0;  // simulated ones; 0: the folder
  std::string directory = ".";
};

/// An item with a key of 8 bytes.
template <std::size_t Bytes>
struct element {
  std::uint64_t key;
  std::array<std::byte, Bytes - sizeof(std::uint64_t)> rest;
};

/// The seeded sequence of keys (Steele, Lea, Flood: SplitMix, 2014).
class keys {
 public:
  std::uint64_t next() noexcept { return detail::mixed_bits(state_ += detail::mixed_step); }

 private:
  std::uint64_t state_ = 1;
};

struct moment {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
  std::uint64_t wait_ns = 0;
  std::chrono::nanoseconds disks{0};
};

double seconds_between(moment const& a, moment const& b) {
  return std::chrono::duration<double>(b.time - a.time).count();
}
double waited_between(moment const& a, moment const& b) {
  return static_cast<double>(b.wait_ns - a.wait_ns) * 1e-9;
}
double simulated_between(moment const& a, moment const& b) {
  return std::chrono::duration<double>(b.disks - a.disks).count();
}

/// The disks and the clock of one sort.
class stage {
 public:
  explicit stage(point const& p)
      : disks_(p.disks),
        store_({.disks = disks_.or_folder(p.directory),
                .memory_bytes = p.memory_bytes,
                .threads = p.threads}) {}

  storage& store() noexcept { return store_; }

  moment now() const {
    return {.wait_ns = store_.total_statistics().wait_ns, .disks = disks_.elapsed()};
  }

 private:
  simulation::disks disks_;
  storage store_;
};

std::uint64_t key_of(std::uint64_t item) { return item; }
template <std::size_t Bytes>
std::uint64_t key_of(element<Bytes> const& item) {
  return item.key;
}

template <typename Item>
Item item_of(std::uint64_t key) {
  Item item{};
  if constexpr (std::is_same_v<Item, std::uint64_t>) {
    item = key;
  } else {
    item.key = key;
  }
  return item;
}

/// Returns whether the items came in order and complete.
template <typename Item, typename Less>
bool run(point const& p, Less less) {
  stage work(p);
  std::uint64_t const count = std::max<std::uint64_t>(1, p.size_bytes / sizeof(Item));
  moment const begin = work.now();
  sorter<Item, Less> items(work.store(), less,
                           {.block_bytes = p.block_bytes,
                            .input_bytes = count * sizeof(Item),
                            .codec = run_codec::none});  // measured speeds would decide
  keys generated;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t const key = generated.next();
    sum += key;
    items.push(item_of<Item>(key));
  }
  items.sort();
  moment const formed = work.now();

  bool ordered = true;
  std::uint64_t found = 0, last = 0;
  for (; !items.empty(); ++items, ++found) {
    std::uint64_t const key = key_of(*items);
    ordered = ordered && last <= key;
    last = key;
    sum -= key;
  }
  moment const end = work.now();

  bool const good = ordered && found == count && sum == 0;
  auto const moved = work.store().total_statistics();
  auto const& report = items.report();
  fmt::print(
      "{{\"seconds\": {}, \"forming_seconds\": {}, \"merging_seconds\": {}, "
      "\"forming_wait_seconds\": {}, \"merging_wait_seconds\": {}, "
      "\"simulated_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"runs\": {}, \"passes\": {}, \"block_bytes\": {}, \"bytes_per_second\": {}, "
      "\"verified\": {}}}\n",
      seconds_between(begin, end), seconds_between(begin, formed), seconds_between(formed, end),
      waited_between(begin, formed), waited_between(formed, end), simulated_between(begin, end),
      moved.read_bytes, moved.write_bytes, report.runs, report.passes, report.block_bytes,
      static_cast<double>(count * sizeof(Item)) / seconds_between(begin, end), good);
  return good;
}

template <std::size_t Bytes>
bool run_elements(point const& p) {
  return run<element<Bytes>>(p, by(&element<Bytes>::key));
}

bool run(point const& p) {
  switch (p.element_bytes) {
    case 8:
      return run<std::uint64_t>(p, std::less<>());
    case 16:
      return run_elements<16>(p);
    case 32:
      return run_elements<32>(p);
    case 64:
      return run_elements<64>(p);
    case 128:
      return run_elements<128>(p);
    case 256:
      return run_elements<256>(p);
    case 512:
      return run_elements<512>(p);
    case 1024:
      return run_elements<1024>(p);
    default:
      throw std::invalid_argument(
          fmt::format("element={} is no power of two from 8 to 1024", p.element_bytes));
  }
}

void set(point& p, std::string_view word) {
  auto const name = word.substr(0, word.find('='));
  std::string const value(word.substr(std::min(word.size(), name.size() + 1)));
  std::uint64_t const number = std::strtoull(value.c_str(), nullptr, 10);
  if (name == "size") {
    p.size_bytes = number;
  } else if (name == "memory") {
    p.memory_bytes = number;
  } else if (name == "element") {
    p.element_bytes = number;
  } else if (name == "block") {
    p.block_bytes = number;
  } else if (name == "threads") {
    p.threads = number;
  } else if (name == "disks") {
    p.disks = number;
  } else if (name == "directory") {
    p.directory = value;
  } else {
    throw std::invalid_argument(fmt::format("'{}' sets nothing", word));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    point p;
    for (std::string_view const word : std::vector<std::string_view>(argv + 1, argv + argc))
      set(p, word);
    return run(p) ? 0 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "sort_point: {}\n", e.what());
  }
  return 2;
}
