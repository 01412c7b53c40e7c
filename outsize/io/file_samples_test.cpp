// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_samples.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

void put(file& to, std::string const& text) {
  to.resize(0);
  to.write(0, std::as_bytes(std::span(text)))->wait();
}

/// Bytes that repeat nowhere near.
std::string text_of(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>((i * i * 2654435761U + i / 251) >> 7);
  return text;
}

/// Of all of `text`, read in pieces from the end on, each overlapping the next.
void note_all(file_samples& samples, std::string const& text) {
  constexpr std::size_t piece = 3 * 4096, overlap = 4096;
  auto const bytes = std::as_bytes(std::span(text));
  for (std::size_t at = round_down(text.size(), piece);; at -= piece) {
    samples.note(at, bytes.subspan(at, std::min(piece + overlap, text.size() - at)));
    if (at == 0) return;
  }
}

TEST(file_samples, are_in_a_file_that_was_appended_to) {
  for (std::size_t const bytes : {0UL, 1UL, 4096UL, 100'000UL, 5UL << 20, (9UL << 20) + 17}) {
    auto const text = text_of(bytes);
    file_samples samples(bytes);
    note_all(samples, text);
    auto const contents = make_memory_file("m");
    for (auto const& more : {std::string(), std::string("more"), text}) {
      put(*contents, text + more);
      EXPECT_TRUE(samples.are_in(*contents)) << bytes;
    }
  }
}

TEST(file_samples, are_not_in_a_file_with_bytes_inserted_or_left_out_or_with_another) {
  for (std::size_t const bytes : {4096UL, 100'000UL, (9UL << 20) + 17}) {
    auto const text = text_of(bytes);
    file_samples samples(bytes);
    note_all(samples, text);
    auto const contents = make_memory_file("m");
    for (std::size_t const at : {std::size_t{0}, bytes / 2, bytes - 1}) {
      put(*contents, text.substr(0, at) + '!' + text.substr(at) + text);
      EXPECT_FALSE(samples.are_in(*contents)) << bytes << ' ' << at;
      put(*contents, text.substr(0, at) + text.substr(at + 1) + text);
      EXPECT_FALSE(samples.are_in(*contents)) << bytes << ' ' << at;
    }
    put(*contents, std::string(2 * bytes, '\0'));
    EXPECT_FALSE(samples.are_in(*contents)) << bytes;
    put(*contents, text.substr(0, bytes - 1));
    EXPECT_FALSE(samples.are_in(*contents)) << bytes;
  }
}

TEST(file_samples, ask_for_nothing_that_was_not_read) {
  auto const text = text_of(100'000);
  file_samples samples(text.size());
  auto const contents = make_memory_file("m");
  put(*contents, std::string(text.size(), '\0'));
  EXPECT_TRUE(samples.are_in(*contents));
  samples.note(50'000, std::as_bytes(std::span(text)).subspan(50'000, 4095));  // a whole page: none
  EXPECT_TRUE(samples.are_in(*contents));
  samples.note(50'000, std::as_bytes(std::span(text)).subspan(50'000, 10'000));
  EXPECT_FALSE(samples.are_in(*contents));
}

}  // namespace
}  // namespace outsize::io
