// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/codecs/codec.hpp>

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace outsize::io::detail {
namespace {

using bytes = std::vector<std::byte>;

std::size_t below(std::mt19937_64& random, std::size_t limit) { return random() % limit; }

bytes compressible(std::size_t count, std::mt19937_64& random) {
  bytes made(count);
  std::byte value{};
  for (auto& one : made) {
    if (random() % 4 == 0) value = static_cast<std::byte>(random() % 64);
    one = value;
  }
  return made;
}

void append(bytes& to, std::span<std::byte const> more) {
  to.insert(to.end(), more.begin(), more.end());
}

bytes encoded(compression kind, std::span<std::byte const> content, std::size_t piece_bytes) {
  auto const made = make_encoder(kind);
  bytes found;
  while (content.size() > piece_bytes) {
    append(found, made->encode(content.first(piece_bytes), false));
    content = content.subspan(piece_bytes);
  }
  append(found, made->encode(content, true));
  return found;
}

struct outcome {
  bytes content;
  bool complete = false;
  bool damaged = false;
};

// Gives the decoder random stretches of input and room.
outcome decoded(compression kind, std::span<std::byte const> from, std::mt19937_64& random,
                std::size_t most_bytes) {
  auto const made = make_decoder(kind);
  outcome found;
  bytes room(most_bytes);
  try {
    for (;;) {
      auto const in = from.first(std::min(from.size(), 1 + below(random, most_bytes)));
      auto const out = std::span(room).first(1 + below(random, most_bytes));
      auto const did = made->step(in, out, in.empty());
      append(found.content, out.first(did.produced_bytes));
      from = from.subspan(did.consumed_bytes);
      found.complete = did.complete;
      if (did.consumed_bytes + did.produced_bytes == 0) {
        EXPECT_TRUE(in.empty());
        return found;
      }
    }
  } catch (damaged_data const& e) {
    EXPECT_STRNE(e.what(), "");
    found.damaged = true;
  }
  return found;
}

class codec_test : public testing::TestWithParam<compression> {
 protected:
  std::uint64_t const seed = std::random_device{}();
  std::mt19937_64 random{seed};
  testing::ScopedTrace const trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
};

TEST_P(codec_test, gives_back_what_went_in) {
  for (std::size_t const size : {0, 1, 100, 70'000, 400'000}) {
    auto const content = compressible(size, random);
    auto const file = encoded(GetParam(), content, 1 + below(random, 100'000));
    EXPECT_EQ(compression_of_bytes(file), GetParam());
    auto const found = decoded(GetParam(), file, random, size < 1000 ? 10 : 100'000);
    EXPECT_TRUE(found.complete);
    EXPECT_FALSE(found.damaged);
    EXPECT_TRUE(found.content == content) << size;
  }
}

TEST_P(codec_test, makes_equal_files_of_equal_pieces) {
  auto const content = compressible(300'000, random);
  EXPECT_EQ(encoded(GetParam(), content, 4096), encoded(GetParam(), content, 4096));
}

TEST_P(codec_test, reads_members_behind_each_other) {
  auto const first = compressible(1000, random), second = compressible(5000, random);
  auto file = encoded(GetParam(), first, 10'000);
  append(file, encoded(GetParam(), {}, 10'000));
  append(file, encoded(GetParam(), second, 10'000));
  auto expected = first;
  append(expected, second);
  auto const found = decoded(GetParam(), file, random, 300);
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.content == expected);
}

TEST_P(codec_test, knows_that_a_file_was_cut_short_anywhere) {
  auto const content = compressible(300, random);
  auto const file = encoded(GetParam(), content, 1000);
  for (std::size_t size = 0; size < file.size(); ++size) {
    auto const found = decoded(GetParam(), std::span(file).first(size), random, 50);
    EXPECT_FALSE(found.complete) << size << " of " << file.size();
    EXPECT_LE(found.content.size(), content.size());
  }
}

TEST_P(codec_test, tells_damage_anywhere_or_gives_what_went_in) {
  auto const content = compressible(120, random);
  auto const file = encoded(GetParam(), content, 1000);
  for (std::size_t place = 0; place < file.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = file;
      damaged[place] ^= static_cast<std::byte>(1 << bit);
      auto const found = decoded(GetParam(), damaged, random, 50);
      EXPECT_TRUE(!found.complete || found.damaged || found.content == content)
          << "byte " << place << " bit " << bit;
    }
  }
}

TEST_P(codec_test, survives_any_bytes_behind_a_signature) {
  for (int round = 0; round < 300; ++round) {
    auto file = encoded(GetParam(), compressible(100, random), 1000);
    auto const kept = below(random, file.size());
    for (auto& one : std::span(file).subspan(kept)) one = static_cast<std::byte>(random());
    decoded(GetParam(), file, random, 1 + below(random, 1000));
  }
}

TEST_P(codec_test, does_not_take_other_bytes_behind_the_last_member) {
  auto file = encoded(GetParam(), compressible(100, random), 1000);
  append(file, std::as_bytes(std::span("0123456789abcdef")));
  EXPECT_TRUE(decoded(GetParam(), file, random, 50).damaged);
}

/// What the allocator has given; 0 where that is not glibc's.
std::size_t allocated_bytes() {
  auto const now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

TEST_P(codec_test, tells_no_less_memory_than_it_takes) {
  constexpr std::size_t piece_bytes = 128 << 10;
  auto const content = compressible(3 << 20, random);
  bytes file;
  file.reserve(2 * content.size());
  auto before = allocated_bytes();
  {
    auto const made = make_encoder(GetParam());
    for (auto rest = std::span(content); !rest.empty(); rest = rest.subspan(piece_bytes))
      append(file, made->encode(rest.first(piece_bytes), rest.size() == piece_bytes));
    EXPECT_LE(allocated_bytes(), before + encoder_memory_bytes(GetParam()));
  }
  before = allocated_bytes();
  auto const made = make_decoder(GetParam());
  bytes room(5000);
  std::size_t const of_room = allocated_bytes();
  for (auto rest = std::span(file);;) {
    auto const did = made->step(rest, room, true);
    rest = rest.subspan(did.consumed_bytes);
    if (did.complete && rest.empty()) break;
    ASSERT_LE(allocated_bytes(), std::max(before, of_room) + made->memory_bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(all, codec_test,
                         testing::Values(compression::gzip, compression::zstd, compression::lz4,
                                         compression::xz, compression::bzip2),
                         [](auto const& row) { return std::string(name_of(row.param)); });

}  // namespace
}  // namespace outsize::io::detail
