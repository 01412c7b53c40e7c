// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Codecs and decoding_input: what was compressed comes back, a file that was cut short or changed
// is refused or without effect, and any bytes, of UTF-16 too, are read to an end or an error,
// whichever it is however they come.
//
//   byte 0       the kind; its upper half: what is done
//   byte 1       the seed of the lengths of pieces
//   bytes 2, 3   where a file is cut short or changed
//   byte 4       which bit, and how long the pieces of the encoder are

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>
#include <outsize/io/detail/decoding_input.hpp>
#include <outsize/testing/pieced_input.hpp>

#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

using io::compression;

constexpr std::array kinds{compression::gzip, compression::zstd, compression::lz4, compression::xz,
                           compression::bzip2};
constexpr std::size_t most_read_bytes = 256_KiB;

std::string encoded(compression kind, std::string_view content, std::size_t piece_bytes) {
  auto const made = io::detail::make_encoder(kind);
  std::string file;
  auto const add = [&](std::string_view piece, bool ends) {
    auto const bytes = made->encode(std::as_bytes(std::span(piece)), ends);
    file.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  };
  for (; content.size() > piece_bytes; content.remove_prefix(piece_bytes))
    add(content.substr(0, piece_bytes), false);
  add(content, true);
  return file;
}

struct outcome {
  std::string content;
  bool refused = false;
  bool given_up = false;  // more was in it than anybody wants to read
};

outcome decoded(io::input_form form, std::string file, pieced_input::options how,
                bool transcode = false) {
  memory_budget budget(64_KiB);
  grant memory = budget.take(64_KiB, "fuzz");
  io::decoding_input stream(std::make_unique<pieced_input>(std::move(file), std::move(how)), form,
                            transcode, memory, 2, 4_KiB);
  outcome found;
  try {
    for (auto view = stream.next(); !view.empty(); view = stream.next()) {
      found.content.append(reinterpret_cast<char const*>(view.data()), view.size());
      found.given_up = found.content.size() > most_read_bytes;
      if (found.given_up) break;
    }
  } catch (format_error const& e) {
    found.refused = true;
    std::string_view const message = e.what();
    require(message.starts_with("pieces: ") && message.find('\n') == message.npos,
            "an error is one line that names the input");
  }
  return found;
}

void check_round_trip(compression kind, std::string_view content, std::uint8_t seed,
                      std::size_t piece_bytes) {
  auto const file = encoded(kind, content, piece_bytes);
  require(io::compression_of_bytes(std::as_bytes(std::span(file))) == kind,
          "a compressed file is recognised");
  auto const found = decoded({.packed = kind}, file, {.seed = seed});
  require(!found.refused && (found.content == content || found.given_up),
          "what was compressed comes back");
}

/// Files of two members, as the second one's end is looked for at another place.
void check_damage(compression kind, std::string_view content, pieced_input::options const& how,
                  std::size_t place, std::uint8_t bit) {
  auto const half = content.size() / 2;
  auto const file = encoded(kind, content.substr(0, half), 100'000);
  auto const second = encoded(kind, content.substr(half), 100'000);
  auto const size = place % (file.size() + second.size());
  auto const cut = decoded({.packed = kind}, (file + second).substr(0, size), how);
  require(cut.refused || size == file.size() || cut.given_up, "a file cut short is refused");
  auto damaged = file + second;
  damaged[size] = static_cast<char>(damaged[size] ^ (1 << bit % 8));
  auto const found = decoded({.packed = kind}, damaged, how);
  require(found.refused || found.content == content || found.given_up,
          "a changed file is refused, or gives what it was made of");
}

void check_any_bytes(compression kind, std::string_view file, std::uint8_t seed) {
  auto const found = decoded({.packed = kind}, std::string(file), {.piece_bytes = file.size() + 1});
  auto const again = decoded({.packed = kind}, std::string(file), {.seed = seed});
  // zstd looks at the size that a frame states only where it has the whole frame at once.
  require(found.refused == again.refused || kind == compression::zstd,
          "what is refused does not depend on the pieces");
  require(found.refused || again.refused || found.content == again.content,
          "what comes out does not depend on the pieces");
}

/// Text in UTF-16, as it is and compressed.
void check_any_text(compression kind, std::string_view text, std::uint8_t seed) {
  auto const marked = (seed % 2 == 0 ? "\xff\xfe" : "\xfe\xff") + std::string(text);
  if (marked.substr(0, 4) == std::string_view("\xff\xfe\0\0", 4)) return;  // UTF-32
  io::input_form const plain{.encoding = io::text_encoding::utf16};
  auto const found = decoded(plain, marked, {.piece_bytes = marked.size() + 1}, true);
  auto const pieces = decoded(plain, marked, {.seed = seed}, true);
  auto const packed =
      decoded({.packed = kind}, encoded(kind, marked, 100'000), {.seed = seed}, true);
  for (auto const& again : {pieces, packed})
    require(found.refused == again.refused && (found.refused || found.content == again.content),
            "what comes of UTF-16 does not depend on how it comes");
}

}  // namespace

void check(std::string_view input) {
  input_bytes bytes(input);
  auto const choice = bytes.take();
  auto const kind = kinds[choice % kinds.size()];
  auto const seed = bytes.take();
  auto const place = bytes.take() + std::size_t{256} * bytes.take();
  auto const bit = bytes.take();
  if (choice < 0x40) return check_round_trip(kind, bytes.rest(), seed, 1 + bit);
  if (choice < 0x80) return check_damage(kind, bytes.rest(), {.seed = seed}, place, bit);
  if (choice >= 0xC0) return check_any_text(kind, bytes.rest(), seed);
  check_any_bytes(kind, bytes.rest(), seed);
}

std::vector<std::string> seeds() {
  std::string const text = "one line\nand one line\nand two lines\n";
  std::vector<std::string> all;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    auto const head = [&](std::size_t what) {
      return static_cast<char>(what + k) + std::string("\1\x20\0\x07", 4);
    };
    all.push_back(head(0) + text + text);
    all.push_back(head(0x40) + text);
    all.push_back(head(0x80) + encoded(kinds[k], text, 1000));
    all.push_back(head(0x80) + encoded(kinds[k], text, 10) + encoded(kinds[k], "", 10));
    all.push_back(head(0x80) + encoded(kinds[k], std::string(3000, 'a'), 10'000));
    all.push_back(head(0xC0) + std::string("a\0\n\0\x3d\xd8\0\xde", 8));
  }
  return all;
}

std::size_t mutation_count() { return 2'000; }

}  // namespace outsize::fuzz
