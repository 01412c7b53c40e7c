// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The stages of the benchmark pipeline-stages, and plain reading and writing of whole buffers.

#include <fcntl.h>
#include <unistd.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stages {

using number = std::complex<double>;
using numbers = std::span<number>;

inline constexpr unsigned levels = 13;
inline constexpr std::size_t length = std::size_t{1} << levels;
inline constexpr std::size_t buffer_bytes = length * sizeof(number);
inline constexpr std::size_t buffers = 32;

// ------------------------------------------------------------------------------------ the stages

/// The factors of each level, one level after another: those of blocks of 2h items begin at h - 1.
inline std::vector<number> const& roots() {
  static std::vector<number> const all = [] {
    std::vector<number> w;
    for (std::size_t half = 1; half < length; half *= 2)
      for (std::size_t i = 0; i < half; ++i)
        w.push_back(std::polar(
            1.0, -std::numbers::pi * static_cast<double>(i) / static_cast<double>(half)));
    return w;
  }();
  return all;
}

inline void reverse_bits(numbers x) {
  static std::vector<std::uint32_t> const place = [] {
    std::vector<std::uint32_t> p(length);
    for (std::uint32_t i = 0; i < length; ++i) p[i] = (p[i / 2] / 2) | ((i & 1) << (levels - 1));
    return p;
  }();
  for (std::uint32_t i = 0; i < length; ++i)
    if (i < place[i]) std::swap(x[i], x[place[i]]);
}

inline void butterflies(numbers x, unsigned level) {
  std::size_t const half = std::size_t{1} << level;
  number const* const w = roots().data() + (half - 1);
  for (std::size_t block = 0; block < length; block += 2 * half) {
    number* const low = x.data() + block;
    number* const high = low + half;
    for (std::size_t i = 0; i < half; ++i) {
      number const a = low[i], b = high[i];
      number const t{b.real() * w[i].real() - b.imag() * w[i].imag(),
                     b.real() * w[i].imag() + b.imag() * w[i].real()};
      low[i] = a + t;
      high[i] = a - t;
    }
  }
}

/// The stages between reading and writing, by number.
inline constexpr unsigned inner_stages = 1 + levels;
inline void apply_stage(unsigned stage, numbers x) {
  if (stage == 0) {
    reverse_bits(x);
  } else {
    butterflies(x, stage - 1);
  }
}

// ------------------------------------------------------------------------------- plain files

/// Reads up to the end of the bytes or of the file. Returns how many there were.
inline std::size_t read_all(int from, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto const got = ::read(from, bytes.data() + done, bytes.size() - done);
    if (got < 0) throw std::runtime_error("read failed");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

inline void write_all(int to, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const put = ::write(to, bytes.data(), bytes.size());
    if (put <= 0) throw std::runtime_error("write failed");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

struct descriptor {
  int number;
  explicit descriptor(int n) : number(n) {
    if (n < 0) throw std::runtime_error("a file or pipe cannot be opened");
  }
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() { ::close(number); }
};

inline int open_input(std::string const& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}
inline int open_output(std::string const& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

}  // namespace stages
