// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The speed of the parallel multiway merge in memory: sorted sequences of one length are merged
// into a window that is used again and again.
//
//   merge_speed u64|struct24 SEQUENCES BYTES_OF_A_SEQUENCE THREADS REPETITIONS
//
// Prints one JSON object; seconds are the median of the repetitions. Source: Bingmann, Keh,
// Sanders: A bulk-parallel priority queue in external memory with STXXL, SEA 2015, Figure 5.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/merge_feed.hpp>
#include <outsize/algorithm/detail/sort/window_writer.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/units.hpp>

namespace {

using namespace outsize;

constexpr std::size_t window_bytes = 8_MiB;

struct job {
  std::size_t sequences = 1;
  std::size_t sequence_bytes = 2_MiB;
  std::size_t threads = 1;
  std::size_t repetitions = 15;
};

/// A larger item: a key, and two words that go with it.
struct struct24 {
  std::uint64_t key, first, second;
  friend bool operator<(struct24 const& a, struct24 const& b) { return a.key < b.key; }
};

void set_key(std::uint64_t& item, std::uint64_t key) { item = key; }
void set_key(struct24& item, std::uint64_t key) { item = {key, key, key}; }

template <typename Item, typename Less>
class merge_trial {
 public:
  explicit merge_trial(job const& work)
      : threads_(work.threads),
        items_(work.sequences * (work.sequence_bytes / sizeof(Item))),
        window_(window_bytes) {
    if (items_.empty()) throw std::invalid_argument("sequences are shorter than one item");
    std::mt19937_64 random(1);
    for (Item& item : items_) set_key(item, random());
    std::size_t const length = work.sequence_bytes / sizeof(Item);
    for (std::size_t s = 0; s < work.sequences; ++s) {
      auto const sequence = std::span(items_).subspan(s * length, length);
      std::ranges::sort(sequence, Less());
      views_.emplace_back(std::span<Item const>(sequence));
    }
  }

  double seconds() {
    ++rounds_;
    auto const begin = std::chrono::steady_clock::now();
    family const typed{Less()};
    detail::merge_feed<family> feed(typed, threads_, views_, sizeof(Item));
    detail::window_writer<family> writer(typed, threads_, {}, detail::equal_items::kept);
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      auto const written = writer.write(round, window_);
      follow(written.bytes);
      feed.consume(round);
    }
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    return took.count();
  }

  bool verified() const noexcept { return ordered_ && merged_items_ == rounds_ * items_.size(); }
  std::uint64_t bytes() const noexcept { return items_.size() * sizeof(Item); }

 private:
  using family = detail::typed_items<Item, Less>;

  /// Looks at the ends of each window: more would be part of what is measured.
  void follow(std::size_t bytes) {
    Item first, last;
    std::memcpy(&first, window_.data(), sizeof first);
    std::memcpy(&last, window_.data() + bytes - sizeof last, sizeof last);
    ordered_ = ordered_ && !Less()(last, first) &&
               (merged_items_ % items_.size() == 0 || !Less()(first, before_));
    before_ = last;
    merged_items_ += bytes / sizeof(Item);
  }

  executor threads_;
  std::vector<Item> items_;
  std::vector<typename family::view> views_;
  std::vector<std::byte> window_;
  std::uint64_t rounds_ = 0;
  std::uint64_t merged_items_ = 0;
  Item before_{};
  bool ordered_ = true;
};

template <typename Item>
bool run(job const& work) {
  merge_trial<Item, std::less<>> trial(work);
  std::vector<double> seconds;
  for (std::size_t r = 0; r < work.repetitions; ++r) seconds.push_back(trial.seconds());
  std::ranges::sort(seconds);
  double const median = seconds[seconds.size() / 2];
  fmt::print(
      "{{\"seconds\": {}, \"bytes_per_second\": {}, \"repetitions\": {}, \"verified\": {}}}\n",
      median, static_cast<double>(trial.bytes()) / median, work.repetitions, trial.verified());
  return trial.verified();
}

bool run(std::string_view kind, job const& work) {
  if (kind == "u64") return run<std::uint64_t>(work);
  if (kind == "struct24") return run<struct24>(work);
  throw std::invalid_argument(fmt::format("'{}' is none of u64, struct24", kind));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const words(argv + 1, argv + argc);
  auto const number = [&](std::size_t i) {
    return std::max<std::size_t>(1, std::strtoull(words[i].c_str(), nullptr, 10));
  };
  try {
    if (words.size() == 5)
      return run(words[0], {number(1), number(2), number(3), number(4)}) ? 0 : 1;
    fmt::print(stderr,
               "usage: merge_speed u64|struct24 SEQUENCES BYTES_OF_A_SEQUENCE THREADS "
               "REPETITIONS\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "merge_speed: {}\n", e.what());
  }
  return 2;
}
