// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/input_form.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io {
namespace {

constexpr std::string_view utf16_little("\xff\xfe", 2), utf16_big("\xfe\xff", 2);
constexpr std::string_view utf32_little("\xff\xfe\0\0", 4), utf32_big("\0\0\xfe\xff", 4);

}  // namespace

foreign_input::foreign_input(std::string const& name, std::string reason, aspect what)
    : format_error(name + ": " + reason), reason_(std::move(reason)), aspect_(what) {}

input_form form_of_bytes(std::span<std::byte const> beginning, input_decoding how,
                         std::string const& name) {
  input_form form;
  if (how.decompress) {
    form.packed = compression_of_bytes(beginning);
    if (form.packed != compression::none) return form;
    auto const foreign = foreign_kind_of_bytes(beginning);
    if (!foreign.empty())
      throw foreign_input(
          name,
          fmt::format("it is compressed by {}, which is not read here; unpack it first", foreign),
          foreign_input::aspect::compression);
  }
  if (!how.transcode) return form;
  std::string_view const text(reinterpret_cast<char const*>(beginning.data()), beginning.size());
  if (text.starts_with(utf32_little) || text.starts_with(utf32_big))
    throw foreign_input(name,
                        "it is text in UTF-32, which is not read here; convert it "
                        "(iconv -f UTF-32 -t UTF-8)",
                        foreign_input::aspect::encoding);
  if (text.starts_with(utf16_little) || text.starts_with(utf16_big))
    form.encoding = text_encoding::utf16;
  return form;
}

std::optional<std::size_t> beginning_of_file(std::string const& path, std::span<std::byte> into) {
  constexpr int standard_input = 0;
  bool const standard = path == "-";
  auto const status = standard ? detail::status_of(standard_input, path) : detail::status_of(path);
  if (!detail::has_offsets(status)) return std::nullopt;
  auto const file = standard ? detail::open_descriptor(detail::duplicate(standard_input, path))
                             : detail::open_for_reading(path, path);
  return detail::peek(file.number(), into, path);
}

std::optional<input_form> form_of_file(std::string const& path, input_decoding how) {
  std::array<std::byte, longest_signature_bytes> beginning{};
  auto const bytes = beginning_of_file(path, beginning);
  if (!bytes) return std::nullopt;
  return form_of_bytes(std::span(beginning).first(*bytes), how, path);
}

}  // namespace outsize::io
