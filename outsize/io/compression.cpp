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

constexpr std::array kinds{kind_row{compression::gzip, "gzip", ".gz", {"\x1f\x8b\x08", 3}},
                           kind_row{compression::zstd, "zstd", ".zst", {"\x28\xb5\x2f\xfd", 4}},
                           kind_row{compression::lz4, "lz4", ".lz4", {"\x04\x22\x4d\x18", 4}},
                           kind_row{compression::xz, "xz", ".xz", {"\xfd\x37zXZ\0", 6}}};

template <typename Matches>
compression first_of(Matches const& matches) noexcept {
  auto const row = std::ranges::find_if(kinds, matches);
  return row == kinds.end() ? compression::none : row->kind;
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
  return first_of([&](kind_row const& row) { return text.starts_with(row.signature); });
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
