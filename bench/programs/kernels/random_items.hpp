// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the kernels are given: random items of all kinds, sorted sequences of them, and texts. One
// thread at a time.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/programs/typed_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace kernels {

/// The same in each run of the program.
inline std::mt19937_64& random_bits() {
  static std::mt19937_64 bits(1);
  return bits;
}

/// An item with a key and much beside it.
template <std::size_t Bytes>
struct keyed {
  std::uint64_t key;
  std::array<std::byte, Bytes - sizeof(std::uint64_t)> rest;
};

inline void set_random(std::uint32_t& item) { item = static_cast<std::uint32_t>(random_bits()()); }
inline void set_random(std::uint64_t& item) { item = random_bits()(); }
inline void set_random(outsize::detail::word_pair& item) {
  item = {.low = random_bits()(), .high = random_bits()()};
}
inline void set_random(outsize::detail::prefix_entry& item) {
  item = {.place = random_bits()(), .prefix = random_bits()()};
}
inline void set_random(typed::triple& item) {
  item = {random_bits()(), static_cast<std::uint32_t>(random_bits()() % 4096),
          static_cast<std::uint32_t>(random_bits()() % 4096)};
}
template <std::size_t Bytes>
void set_random(keyed<Bytes>& item) {
  item.key = random_bits()();
}

/// How such items are ordered: as they are, two words by the second.
template <typename T>
auto bits_of() {
  using family = outsize::detail::typed_items<T, std::less<>>;
  typename family::key_form bits;
  if constexpr (std::same_as<T, outsize::detail::word_pair>) bits.key_is_first = false;
  return bits;
}

template <typename T>
std::vector<T> random_items(std::size_t count) {
  std::vector<T> items(count);
  for (T& item : items) set_random(item);
  return items;
}

/// What keys there are in sorted sequences.
enum class keys { all, few, of_one_sequence };

/// Sorted sequences of one length, side by side: of random items, of four different ones, or each
/// of none that come before another's.
template <typename T, typename Less>
std::vector<T> sorted_sequences(std::size_t count, std::size_t length, Less less, keys which) {
  auto items = random_items<T>(count * length);
  if (which == keys::few)
    for (std::size_t i = 4; i < items.size(); ++i) items[i] = items[random_bits()() % 4];
  if (which == keys::of_one_sequence) std::ranges::sort(items, less);
  for (std::size_t s = 0; s < count; ++s)
    std::ranges::sort(std::span(items).subspan(s * length, length), less);
  return items;
}

/// Sorted sequences of one length, side by side.
template <typename T, typename Less>
std::vector<T> sorted_sequences(std::size_t count, std::size_t length, Less less) {
  return sorted_sequences<T>(count, length, less, keys::all);
}

/// Sorted records side by side, all of whose bytes count: `common` zeros, a number, more zeros.
inline std::vector<std::byte> sorted_records(std::size_t count, std::size_t record_bytes,
                                             std::size_t common = 0) {
  auto keys = random_items<std::uint64_t>(count);
  std::ranges::sort(keys);
  std::vector<std::byte> bytes(count * record_bytes);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < sizeof keys[i]; ++b)
      bytes[i * record_bytes + common + b] = static_cast<std::byte>(keys[i] >> (56 - 8 * b));
  return bytes;
}

/// Texts one behind the other, each with its terminator.
class text_lines {
 public:
  /// As `make()` makes them.
  template <typename Make>
  text_lines(std::size_t count, Make make) {
    for (std::size_t i = 0; i < count; ++i) {
      text_ += make();
      text_ += '\n';
      ends_.push_back(text_.size() - 1);
    }
  }

  std::size_t size() const noexcept { return ends_.size(); }
  std::string_view text() const noexcept { return text_; }
  std::size_t begin(std::size_t i) const noexcept { return i == 0 ? 0 : ends_[i - 1] + 1; }
  std::string_view operator[](std::size_t i) const noexcept {
    return std::string_view(text_).substr(begin(i), ends_[i] - begin(i));
  }
  std::vector<std::string_view> all() const {
    std::vector<std::string_view> lines;
    for (std::size_t i = 0; i < size(); ++i) lines.push_back((*this)[i]);
    return lines;
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  // where the terminators are
};

}  // namespace kernels
