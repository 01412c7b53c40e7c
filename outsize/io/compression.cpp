// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/compression.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace outsize::io {
namespace {

struct kind_row {
  compression kind;
  std::string_view name;
  std::string_view ending;
  std::string_view signature;
};

constexpr std::string_view legacy_lz4("\x02\x21\x4c\x18", 4);
constexpr std::size_t skippable_header_bytes = 8;  // a signature, and the length of what follows

constexpr std::array kinds{kind_row{compression::gzip, "gzip", ".gz", {"\x1f\x8b\x08", 3}},
                           kind_row{compression::zstd, "zstd", ".zst", {"\x28\xb5\x2f\xfd", 4}},
                           kind_row{compression::lz4, "lz4", ".lz4", {"\x04\x22\x4d\x18", 4}},
                           kind_row{compression::xz, "xz", ".xz", {"\xfd\x37zXZ\0", 6}},
                           kind_row{compression::bzip2, "bzip2", ".bz2", "BZh"}};

/// What streams neither read nor write. A kind without a signature is known by its name alone.
struct foreign_row {
  std::string_view name;
  std::string_view ending = {};
  std::string_view signature = {};
};

constexpr std::array foreign_kinds{foreign_row{"zip", ".zip", "PK\x03\x04"},
                                   foreign_row{"zip", {}, "PK\x05\x06"},
                                   foreign_row{"zip", {}, "PK\x07\x08"},
                                   foreign_row{"7-Zip", ".7z", "7z\xbc\xaf\x27\x1c"},
                                   foreign_row{"RAR", ".rar", "Rar!\x1a\x07"},
                                   foreign_row{"compress", {}, "\x1f\x9d"},
                                   foreign_row{"pack", {}, "\x1f\x1e"},
                                   foreign_row{"lzip", ".lz", {"LZIP\0", 5}},
                                   foreign_row{"lzip", {}, "LZIP\x01"},
                                   foreign_row{"lzop", ".lzo", {"\x89LZO\0\r\n\x1a\n", 9}},
                                   foreign_row{"lrzip", ".lrz", {"LRZI\0", 5}},
                                   foreign_row{"snappy", ".sz", {"\xff\x06\0\0sNaPpY", 10}},
                                   foreign_row{"lzma", ".lzma"},
                                   foreign_row{"brotli", ".br"},
                                   foreign_row{"bzip", ".bz"},
                                   foreign_row{"a compressed tar", ".tgz"},
                                   foreign_row{"a compressed tar", ".taz"},
                                   foreign_row{"a compressed tar", ".tbz"},
                                   foreign_row{"a compressed tar", ".tbz2"},
                                   foreign_row{"a compressed tar", ".txz"},
                                   foreign_row{"a compressed tar", ".tlz"},
                                   foreign_row{"a compressed tar", ".tzst"}};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ends_in(std::string_view path, std::string_view ending) noexcept {
  // A name that is nothing but the ending is a hidden file's.
  auto const name = path.substr(path.rfind('/') + 1);
  return !ending.empty() && name.size() > ending.size() &&
         std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, lower);
}

/// Behind "BZh": a digit, and the number that begins a block (pi), or that of the end (its root).
bool continues_bzip2(std::string_view text) noexcept {
  constexpr std::string_view block = "1AY&SY", end = "\x17\x72\x45\x38\x50\x90";
  return !text.empty() && text[0] >= '1' && text[0] <= '9' &&
         (text.substr(1).starts_with(block) || text.substr(1).starts_with(end));
}

/// A file of the old kind of lzma has no signature: a byte of properties, the usual one, the length
/// of its dictionary, which is a power of two, or one and a half, and its own length, or none.
bool is_lzma(std::string_view text) noexcept {
  if (text.size() < 13 || text[0] != '\x5d') return false;
  auto const number = [text](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = at + bytes; i-- > at;)
      value = value << 8U | static_cast<unsigned char>(text[i]);
    return value;
  };
  std::uint64_t const dictionary = number(1, 4), length = number(5, 8);
  bool const is_usual = std::has_single_bit(dictionary) ||
                        (dictionary % 3 == 0 && std::has_single_bit(dictionary / 3));
  return dictionary >= 4096 && is_usual &&
         (length == UINT64_MAX || length < std::uint64_t{1} << 38);
}

template <typename Matches>
compression first_of(Matches const& matches) noexcept {
  auto const row = std::ranges::find_if(kinds, matches);
  return row == kinds.end() ? compression::none : row->kind;
}

compression of_signature(std::string_view text) noexcept {
  if (text.starts_with(legacy_lz4)) return compression::lz4;
  return first_of([&](kind_row const& row) {
    return text.starts_with(row.signature) &&
           (row.kind != compression::bzip2 || continues_bzip2(text.substr(row.signature.size())));
  });
}

std::string_view text_of(std::span<std::byte const> bytes) noexcept {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// How long the skippable frame is that `text` begins with; nothing if it begins with none.
std::optional<std::uint64_t> skippable_bytes(std::string_view text) noexcept {
  if (text.size() < skippable_header_bytes || !text.substr(1).starts_with("\x2a\x4d\x18") ||
      (static_cast<unsigned char>(text[0]) & 0xf0U) != 0x50)
    return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = skippable_header_bytes; i-- > 4;)
    length = length << 8U | static_cast<unsigned char>(text[i]);
  return skippable_header_bytes + length;
}

}  // namespace

std::string_view name_of(compression kind) noexcept {
  auto const row = std::ranges::find(kinds, kind, &kind_row::kind);
  return row == kinds.end() ? "none" : row->name;
}

std::optional<compression> compression_called(std::string_view name) noexcept {
  if (name == "none") return compression::none;
  auto const row = std::ranges::find(kinds, name, &kind_row::name);
  if (row == kinds.end()) return std::nullopt;
  return row->kind;
}

compression compression_of_name(std::string_view path) noexcept {
  return first_of([&](kind_row const& row) { return ends_in(path, row.ending); });
}

std::string_view promise_of_name(std::string_view path) noexcept {
  auto const kind = compression_of_name(path);
  if (kind != compression::none) return name_of(kind);
  if (path.ends_with(".Z") && ends_in(path, ".z")) return "compress";  // .z: anything
  auto const row = std::ranges::find_if(
      foreign_kinds, [&](foreign_row const& one) { return ends_in(path, one.ending); });
  return row == foreign_kinds.end() ? std::string_view() : row->name;
}

compression compression_of_bytes(std::span<std::byte const> beginning) noexcept {
  auto const text = text_of(beginning);
  auto const skipped = skippable_bytes(text);
  if (!skipped) return of_signature(text);
  auto const behind = of_signature(text.substr(std::min<std::uint64_t>(*skipped, text.size())));
  return behind == compression::lz4 ? behind : compression::zstd;
}

std::string_view foreign_kind_of_bytes(std::span<std::byte const> beginning) noexcept {
  auto const text = text_of(beginning);
  if (is_lzma(text)) return "lzma";
  auto const row = std::ranges::find_if(foreign_kinds, [&](foreign_row const& one) {
    return !one.signature.empty() && text.starts_with(one.signature);
  });
  return row == foreign_kinds.end() ? std::string_view() : row->name;
}

}  // namespace outsize::io
