// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What the benchmarks of maps store and ask for, for ours and the peers alike; C++17, as STXXL asks
// for.
//
// Entries are a key of 8 bytes and a value of 32 that follows from it and does not compress. Entry
// i of those stored first is computed, and so are their order and their sum: a map of any size can
// be filled without an input, and verified without a copy. Keys stored first are even, those
// inserted later odd, and none comes twice. Everything here is constant or a value: threads may
// share it.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace map_workload {

struct value {
  std::uint64_t words[4];
};

struct entry {
  std::uint64_t key;
  value data;
};

inline bool has_lower_key(entry const& a, entry const& b) { return a.key < b.key; }

/// A bijection of words after which neighbours have nothing in common: the finaliser of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The same for words of `bits` bits.
constexpr std::uint64_t mix(std::uint64_t x, unsigned bits) {
  std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
  for (std::uint64_t const factor : {0xBF58476D1CE4E5B9U, 0x94D049BB133111EBU})
    x = ((x ^ (x >> (bits / 2 + 1))) * factor) & mask;
  return x ^ (x >> (bits / 2 + 1));
}

constexpr value value_of(std::uint64_t key) {
  constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;
  return {{mix(key + step), mix(key + 2 * step), mix(key + 3 * step), mix(key + 4 * step)}};
}

constexpr entry entry_of(std::uint64_t key) { return {key, value_of(key)}; }

/// The number and the sum of entries, and whether they came in ascending order.
struct digest {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  bool ascending = true;
  std::uint64_t last_key = 0;

  void add(std::uint64_t key, value const& v) {
    ascending &= count == 0 || key > last_key;
    last_key = key;
    ++count;
    // A product, so that a value belongs to its key.
    sum += (key | 1) * (v.words[0] + 3 * v.words[1] + 5 * v.words[2] + 7 * v.words[3]);
  }
  void add(entry const& e) { add(e.key, e.data); }

  bool same_entries(digest const& other) const { return count == other.count && sum == other.sum; }
};

/// The entries and the operations of a benchmark with so many bytes of entries.
class workload {
 public:
  explicit workload(std::uint64_t bytes)
      : count_(std::max<std::uint64_t>(1, bytes / sizeof(entry))), stride_(key_space / count_) {
    while ((std::uint64_t{1} << bits_) < count_) ++bits_;
  }

  /// How many keys or entries one call is given, where it is some of them: so few that a leaf has
  /// hardly more than one.
  static constexpr std::uint64_t batch = 10'000;

  /// How many entries are stored first.
  std::uint64_t count() const { return count_; }

  /// How many are inserted, found or erased: a million, fewer where that is more than a hundredth.
  std::uint64_t operations() const { return std::clamp<std::uint64_t>(count_ / 100, 1, 1'000'000); }

  /// Key i of those stored first, in ascending order: one at random out of each of `count()` equal
  /// parts of all even keys.
  std::uint64_t stored(std::uint64_t i) const { return 2 * (i * stride_ + mix(i) % stride_); }

  /// Key j of a random order of those stored first.
  std::uint64_t shuffled(std::uint64_t j) const {
    do j = mix(j, bits_);
    while (j >= count_);
    return stored(j);
  }

  /// Key j of those that are inserted, anywhere among the others.
  std::uint64_t inserted(std::uint64_t j) const { return 2 * mix(j, 63) + 1; }

  digest all_stored() const {
    digest all;
    for (std::uint64_t i = 0; i < count_; ++i) all.add(entry_of(stored(i)));
    return all;
  }

  digest first_shuffled() const {
    digest found;
    for (std::uint64_t j = 0; j < operations(); ++j) found.add(entry_of(shuffled(j)));
    return found;
  }

  digest all_inserted() const {
    digest added;
    for (std::uint64_t j = 0; j < operations(); ++j) added.add(entry_of(inserted(j)));
    return added;
  }

 private:
  static constexpr std::uint64_t key_space = std::uint64_t{1} << 63;

  std::uint64_t count_;
  std::uint64_t stride_;
  unsigned bits_ = 2;
};

/// The entries stored first, in ascending order: out of a file of them or, without its name,
/// computed. Threads may read at once.
class sorted_entries {
 public:
  sorted_entries(workload const& load, std::string const& path) : load_(load) {
    if (path.empty()) return;
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  sorted_entries(sorted_entries const&) = delete;
  sorted_entries& operator=(sorted_entries const&) = delete;
  ~sorted_entries() {
    if (file_ >= 0) ::close(file_);
  }

  std::uint64_t count() const { return load_.count(); }

  /// Puts entries `first`, `first` + 1, … into `to`: as many as there are, and as it is long.
  void read(std::uint64_t first, std::vector<entry>& to) const {
    to.resize(std::min<std::uint64_t>(to.size(), count() - first));
    if (file_ < 0)
      for (auto& e : to) e = entry_of(load_.stored(first++));
    else
      read_file(first, to);
  }

 private:
  void read_file(std::uint64_t first, std::vector<entry>& to) const {
    auto* at = reinterpret_cast<char*>(to.data());
    std::size_t left = to.size() * sizeof(entry);
    auto offset = static_cast<off_t>(first * sizeof(entry));
    while (left > 0) {
      ssize_t const got = ::pread(file_, at, left, offset);
      if (got < 0) throw std::system_error(errno, std::generic_category(), "input");
      if (got == 0) throw std::runtime_error("the input is too short");
      at += got;
      offset += got;
      left -= static_cast<std::size_t>(got);
    }
  }

  workload load_;
  int file_ = -1;
};

/// Goes through some of the sorted entries, one by one, and reads a MiB of them at a time.
class entry_cursor {
 public:
  entry_cursor(sorted_entries const& from, std::uint64_t first, std::uint64_t last)
      : from_(&from), next_(first), last_(last) {
    fetch();
  }
  explicit entry_cursor(sorted_entries const& from) : entry_cursor(from, 0, from.count()) {}

  bool done() const { return at_ == chunk_.size(); }
  entry const& operator*() const { return chunk_[at_]; }
  entry const* operator->() const { return &chunk_[at_]; }
  entry_cursor& operator++() {
    if (++at_ == chunk_.size()) fetch();
    return *this;
  }

 private:
  static constexpr std::uint64_t chunk_entries = (1U << 20) / sizeof(entry);

  void fetch() {
    chunk_.resize(std::min(chunk_entries, last_ - next_));
    if (!chunk_.empty()) from_->read(next_, chunk_);
    next_ += chunk_.size();
    at_ = 0;
  }

  sorted_entries const* from_;
  std::uint64_t next_, last_;
  std::vector<entry> chunk_;
  std::size_t at_ = 0;
};

}  // namespace map_workload
