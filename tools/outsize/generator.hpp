// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Test data as a pure function: item i depends on (kind, seed, i) alone, through integer
// arithmetic, so any part can be made by itself and every machine makes the same bytes. Layer:
// tools. A generator is immutable; write() may be called from any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::tool {

/// What is generated. Numbers are 64-bit little-endian, IEEE 754 if not whole; texts are printable
/// ASCII.
enum class item_kind : std::uint8_t {
  u64,       ///< uniform, each item independent of the others
  u64_asc,   ///< strictly ascending with random gaps
  u64_desc,  ///< strictly descending with random gaps
  u64_near,  ///< ascending, but for random changes of up to 1023 places
  u64_few,   ///< 16 distinct values, equally frequent
  u64_zipf,  ///< 65536 distinct values, the r-th as frequent as 1/r
  u64_same,  ///< one value
  pairs,     ///< 16 bytes: a uniform u64 as key, the index as u64
  triples,   ///< 16 bytes: a uniform u64, two u32 of 4096 distinct values each
  f64,       ///< floating point numbers of either sign, uniform from 1 to 2
  records,   ///< 100 bytes: 10 of key, blank, the index in 16 hex digits, blank, 71 of filling,
             ///< newline
  lines,     ///< 20 to 200 bytes with the newline; see generator.cpp
};

/// The names on the command line, indexed by item_kind.
inline constexpr std::array<std::string_view, 12> item_kind_names{
    "u64",      "u64-asc", "u64-desc", "u64-near", "u64-few", "u64-zipf",
    "u64-same", "pairs",   "triples",  "f64",      "records", "lines"};

/// Returns the names with commas between.
std::string item_kind_list();

/// Errors:  usage_error naming the text.
item_kind parse_item_kind(std::string_view name);

class generator {
 public:
  generator(item_kind kind, std::uint64_t seed);

  /// Returns the number of items there are: indices below it may be asked for.
  std::uint64_t limit() const noexcept;

  /// Returns how many bytes write() needs for `count` items, at most.
  std::size_t buffer_bytes(std::size_t count) const noexcept;

  /// Writes items [first, first + count) one after the other to `into`, which has
  /// buffer_bytes(count), and returns their length in bytes.
  std::size_t write(std::uint64_t first, std::size_t count, char* into) const noexcept;

 private:
  /// A rank for every entry of the table's index, from which a search upwards is short.
  struct zipf_table {
    std::vector<std::uint64_t> cumulative;  // weights of ranks 0..r together
    std::vector<std::uint32_t> first_rank;  // by the leading bits of a draw
    std::uint64_t operator()(std::uint64_t draw) const noexcept;
  };
  /// Words in slots of equal size, so that copying one is one move of fixed length.
  struct word_table {
    static constexpr std::size_t slot_bytes = 16;
    std::vector<char> slots;
    std::array<std::uint8_t, 256> lengths;  // with the blank that follows
    /// Writes words from `at` until `end` is reached or passed, by less than slot_bytes.
    void write(std::uint64_t random_state, char* at, char const* end) const noexcept;
  };

  static zipf_table make_zipf_table();
  static word_table make_word_table();

  std::uint64_t draw(std::uint64_t index) const noexcept;
  std::uint64_t number(std::uint64_t index) const noexcept;
  char* write_pair(std::uint64_t index, char* into) const noexcept;
  char* write_record(std::uint64_t index, char* into) const noexcept;
  char* write_line(std::uint64_t index, char* into) const noexcept;

  item_kind kind_;
  std::uint64_t key_;
  zipf_table zipf_;   // filled for u64_zipf only
  word_table words_;  // filled for lines only
};

}  // namespace outsize::tool
