// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Offset-value codes: how a byte string differs from one that comes before it, in one word.
//
//            symbol 0   symbol 1
//   base   | return   |           |
//   b      | return   |  -1;      |        code of b: 65534 - 1, " -1;"
//
// A record is taken as symbols of six bytes, with zeros behind its end. Of two records coded
// against the same base, the one with the lesser code comes first, and the code of the other one is
// that against the first, too. So records whose codes differ need not be looked at, and of others
// only what lies behind the symbol that they share. Codes of two more kinds, less than all these:
//
//   0   the base itself
//   1   not told from the base by symbols: zeros at the end, or alike in more than codes tell
//
// For orders of whole records by their bytes. Pure functions. Layer: kernel. Source: Conner:
// Offset value coding, IBM Technical Disclosure Bulletin 20(7), 1977; Graefe, Do: Offset-value
// coding in database query processing, EDBT 2023.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <outsize/base/detail/byte_words.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {

class offset_codes {
 public:
  using code = std::uint64_t;
  static constexpr code same = 0;
  static constexpr code none = ~std::uint64_t{0};  ///< Greater than that of any record.

  explicit offset_codes(byte_order const& order) noexcept
      : turned_(order.descending ? symbol_mask : 0) {}

  /// Of any record, against what comes before all.
  code of_first(std::string_view record) const noexcept { return at_symbol(record, 0); }

  /// Of a record that does not come before the base.
  code against(std::string_view base, std::string_view record) const noexcept {
    std::size_t const alike = common_prefix_bytes(base, record);
    if (alike == base.size() && alike == record.size()) return same;
    return coded(base, record, alike);
  }

  /// Which of two records comes first, `a` if they are equal, and the code of the other one against
  /// it. @pre both have the code `shared` against one base.
  struct match {
    bool b_is_less;
    code of_other;
  };
  match compare(std::string_view a, std::string_view b, code shared) const noexcept {
    if (shared == same) return {false, same};
    std::size_t const skipped = std::min({bytes_before(shared), a.size(), b.size()});
    std::size_t const alike = skipped + common_prefix_bytes(a.substr(skipped), b.substr(skipped));
    bool const ended = alike == std::min(a.size(), b.size());
    if (ended && a.size() == b.size()) return {false, same};
    bool const b_is_lower = ended ? b.size() < a.size() : byte(b, alike) < byte(a, alike);
    bool const b_is_less = b_is_lower != (turned_ != 0);
    return {b_is_less, b_is_less ? coded(b, a, alike) : coded(a, b, alike)};
  }

 private:
  static constexpr std::size_t symbol_bytes = 6;
  static constexpr unsigned symbol_bits = 8 * symbol_bytes;
  static constexpr std::uint64_t symbol_mask = (std::uint64_t{1} << symbol_bits) - 1;
  static constexpr std::uint64_t symbols = 0xfffe;  // that codes tell; a code has 1 to 65534 of it
  static constexpr code indistinct = 1;

  static unsigned char byte(std::string_view record, std::size_t i) noexcept {
    return static_cast<unsigned char>(record[i]);
  }

  std::uint64_t symbol(std::string_view record, std::size_t at) const noexcept {
    std::string_view const rest = record.substr(std::min(record.size(), at));
    return (leading_word(rest) >> (64 - symbol_bits)) ^ turned_;
  }
  code at_symbol(std::string_view record, std::size_t s) const noexcept {
    return (symbols - s) << symbol_bits | symbol(record, s * symbol_bytes);
  }

  /// Of a record that agrees with the base in `alike` bytes, and is another one.
  code coded(std::string_view base, std::string_view record, std::size_t alike) const noexcept {
    std::size_t s = alike / symbol_bytes;
    // Where one of them ends the symbols differ only if the other one has other bytes than zeros.
    if (alike == std::min(base.size(), record.size()))
      while (symbol(base, s * symbol_bytes) == symbol(record, s * symbol_bytes)) {
        ++s;
        if (s * symbol_bytes >= std::max(base.size(), record.size())) return indistinct;
      }
    return s < symbols ? at_symbol(record, s) : indistinct;
  }

  /// In which bytes records with the same code agree.
  static std::size_t bytes_before(code shared) noexcept {
    if (shared == indistinct) return 0;
    return (symbols - (shared >> symbol_bits) + 1) * symbol_bytes;
  }

  std::uint64_t turned_;
};

}  // namespace outsize::detail
