// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/compression.hpp>

#include <algorithm>
#include <array>

#include <outsize/io/posix/blocking_io.hpp>

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
                           kind_row{compression::xz, "xz", ".xz", {"\xfd\x37zXZ\0", 6}}};

template <typename Matches>
compression first_of(Matches const& matches) noexcept {
  auto const row = std::ranges::find_if(kinds, matches);
  return row == kinds.end() ? compression::none : row->kind;
}

compression of_signature(std::string_view text) noexcept {
  if (text.starts_with(legacy_lz4)) return compression::lz4;
  return first_of([&](kind_row const& row) { return text.starts_with(row.signature); });
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
  // A name that is nothing but the ending is a hidden file's.
  auto const name = path.substr(path.rfind('/') + 1);
  return first_of([&](kind_row const& row) {
    return name.size() > row.ending.size() && name.ends_with(row.ending);
  });
}

compression compression_of_bytes(std::span<std::byte const> beginning) noexcept {
  std::string_view const text(reinterpret_cast<char const*>(beginning.data()), beginning.size());
  auto const skipped = skippable_bytes(text);
  if (!skipped) return of_signature(text);
  auto const behind = of_signature(text.substr(std::min<std::uint64_t>(*skipped, text.size())));
  return behind == compression::lz4 ? behind : compression::zstd;
}

compression compression_of_file(std::string const& path) {
  constexpr int standard_input = 0;
  bool const standard = path == "-";
  auto const status = standard ? detail::status_of(standard_input, path) : detail::status_of(path);
  if (!detail::has_offsets(status)) return compression::none;
  auto const file = standard ? detail::open_descriptor(detail::duplicate(standard_input, path))
                             : detail::open_for_reading(path, path);
  std::array<std::byte, longest_signature_bytes> beginning{};
  auto const bytes = detail::peek(file.number(), beginning, path);
  return compression_of_bytes(std::span(beginning).first(bytes));
}

}  // namespace outsize::io
