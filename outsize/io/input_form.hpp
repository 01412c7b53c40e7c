// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In which form an input comes: compressed, as text in UTF-16, or as the bytes that are wanted.
//
// Files are recognised by their first bytes, and only as far as that is asked for: binary data may
// begin with any bytes. A form that is recognised and cannot be read is refused: its bytes are not
// what anybody wants to have sorted. Usable from any number of threads. Layer: io.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <outsize/base/error.hpp>
#include <outsize/io/compression.hpp>

namespace outsize::io {

/// What is recognised in an input and undone on the way in.
struct input_decoding {
  bool decompress = false;  ///< Compressed files.
  bool transcode = false;   ///< Text in UTF-16 with a byte order mark, which becomes UTF-8.

  bool any() const noexcept { return decompress || transcode; }
};

/// How the characters of a text are written, as far as that matters.
enum class text_encoding : std::uint8_t { bytes, utf16 };

/// See the top of this file.
struct input_form {
  compression packed = compression::none;
  text_encoding encoding = text_encoding::bytes;  ///< Of what is not compressed.

  bool is_plain() const noexcept {
    return packed == compression::none && encoding == text_encoding::bytes;
  }
};

/// An input is in a form that cannot be read, or not to its end. Who knows that its bytes are what
/// is wanted can have them by not asking for what recognised it.
class foreign_input : public format_error {
 public:
  /// What was asked for and recognised it.
  enum class aspect : std::uint8_t { compression, encoding };

  foreign_input(std::string const& name, std::string reason, aspect what);

  aspect what_it_is() const noexcept { return aspect_; }
  /// The message without the name.
  std::string const& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
  aspect aspect_;
};

/// The form of an input that begins like this; longest_signature_bytes suffice, fewer are the whole
/// of it. @throws foreign_input naming `name`, for other kinds of compression, archives and UTF-32.
input_form form_of_bytes(std::span<std::byte const> beginning, input_decoding how,
                         std::string const& name);

/// Fills `into` with the first bytes of a regular file or block device, without using them up ("-":
/// standard input, from where it stands), and returns how many. Nothing for what cannot be looked
/// at and read again. @throws io_error naming the path.
std::optional<std::size_t> beginning_of_file(std::string const& path, std::span<std::byte> into);

/// The form of a regular file or block device by its first bytes, without using them up ("-":
/// standard input, from where it stands). Nothing for what cannot be looked at and read again.
/// @throws io_error, foreign_input naming the path.
std::optional<input_form> form_of_file(std::string const& path, input_decoding how);

}  // namespace outsize::io
