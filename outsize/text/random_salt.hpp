// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Chance that can be repeated: sixteen bytes that decide how texts are shuffled, and which numbers
// come. Equal salts give equal results, on every machine, for any memory and threads. Values.
// Layer: text.

#include <array>
#include <cstdint>
#include <string_view>

#include <outsize/text/detail/md5.hpp>

namespace outsize::text {

/// What a random order is made from.
struct random_salt {
  std::array<char, 16> bytes{};

  /// Different for different seeds.
  static random_salt of_seed(std::uint64_t seed) noexcept;
  /// Not to be foreseen. @throws std::system_error, std::runtime_error if the system has none.
  static random_salt of_system();

  bool operator==(random_salt const&) const = default;

  /// The start of a digest, to which a text is to be added: where `sort -R` of GNU with these bytes
  /// as --random-source has the text.
  detail::md5 begin_digest() const noexcept {
    detail::md5 digest;
    digest.add({bytes.data(), bytes.size()});
    return digest;
  }

  /// The digest of `text`.
  detail::md5::digest digest(std::string_view text) const noexcept {
    detail::md5 digest = begin_digest();
    digest.add(text);
    return digest.finish();
  }

  /// The number at place `index` of a random sequence.
  std::uint64_t number(std::uint64_t index) const noexcept;
};

/// Random numbers, one after the other.
class random_numbers {
 public:
  explicit random_numbers(random_salt const& salt) noexcept : salt_(salt) {}

  std::uint64_t next() noexcept { return salt_.number(index_++); }
  /// One of 0 … limit - 1, each as likely as the others. @pre limit > 0.
  std::uint64_t below(std::uint64_t limit) noexcept;

 private:
  random_salt salt_;
  std::uint64_t index_ = 0;
};

}  // namespace outsize::text
