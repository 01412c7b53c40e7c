// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What streams need of compression libraries: bytes in, bytes out, a piece at a time. What turns
// UTF-16 into UTF-8 is a decoder too.
//
// A decoder takes whole files, that is, any number of members (of gzip), frames (zstd, lz4) or
// streams (xz, bzip2) one behind the other. Nothing else may stand behind the last one. An encoder
// makes one member; its output depends on the pieces it is given, so the caller gives pieces of one
// length. One thread at a time uses an object. The libraries allocate what they need themselves:
//
//            gzip      zstd                lz4        xz                             bzip2
//   decoder  40 KiB    window, to 128 MiB  to 12 MiB  dictionary, to 160 MiB in all  4 MiB
//   encoder  260 KiB   4 MiB               1 MiB      17 MiB                         8 MiB
//
// Private to io. Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/io/input_form.hpp>

namespace outsize::io::detail {

/// What a decoder throws: in a few words what is wrong, and how much of its input it had consumed,
/// as far as the library says.
class damaged_data : public format_error {
 public:
  explicit damaged_data(std::string const& reason, std::size_t consumed_bytes = 0)
      : format_error(reason), consumed_bytes_(consumed_bytes) {}
  std::size_t consumed_bytes() const noexcept { return consumed_bytes_; }

 private:
  std::size_t consumed_bytes_;
};

/// What a decoder of text throws: text that is not in the form in which it began, or that is no
/// text. `what()` says all about it but the name of the input.
class damaged_text : public damaged_data {
 public:
  damaged_text(std::string const& reason, foreign_input::aspect what)
      : damaged_data(reason), aspect_(what) {}
  foreign_input::aspect aspect() const noexcept { return aspect_; }

 private:
  foreign_input::aspect aspect_;
};

/// What one call of a decoder has done.
struct decoded_step {
  std::size_t consumed_bytes = 0;
  std::size_t produced_bytes = 0;
  bool complete = false;  ///< All before is whole members, and what was in them is out.
};

class decoder {
 public:
  decoder() = default;
  decoder(decoder const&) = delete;
  decoder& operator=(decoder const&) = delete;
  virtual ~decoder() = default;

  /// Decodes bytes from the front of `in` to the front of `out`, which is not empty. `ends`: no
  /// bytes follow those of `in`. A call that consumes and produces nothing needs more input.
  /// @throws damaged_data, after which it is of no use; std::bad_alloc.
  virtual decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool ends) = 0;

  /// Bytes that the library has allocated, or a bit more. They change with a step that reads the
  /// header of a member, frame or stream; before the steps that follow, few of them are in use.
  virtual std::uint64_t memory_bytes() const noexcept = 0;
};

class encoder {
 public:
  encoder() = default;
  encoder(encoder const&) = delete;
  encoder& operator=(encoder const&) = delete;
  virtual ~encoder() = default;

  /// Takes `piece`, and with `ends` completes the file; returns what is ready to be written, valid
  /// until the next call. @throws std::bad_alloc.
  virtual std::span<std::byte const> encode(std::span<std::byte const> piece, bool ends) = 0;
};

/// Bytes that an encoder of this kind and its output have allocated at most.
std::uint64_t encoder_memory_bytes(compression kind) noexcept;

/// @pre kind is not none. @throws std::bad_alloc.
std::unique_ptr<decoder> make_decoder(compression kind);
std::unique_ptr<encoder> make_encoder(compression kind);

std::unique_ptr<decoder> make_gzip_decoder();
std::unique_ptr<encoder> make_gzip_encoder();
std::unique_ptr<decoder> make_zstd_decoder();
std::unique_ptr<encoder> make_zstd_encoder();
std::unique_ptr<decoder> make_lz4_decoder();
std::unique_ptr<encoder> make_lz4_encoder();
std::unique_ptr<decoder> make_xz_decoder();
std::unique_ptr<encoder> make_xz_encoder();
std::unique_ptr<decoder> make_bzip2_decoder();
std::unique_ptr<encoder> make_bzip2_encoder();

/// UTF-16 to UTF-8, in text that begins with a byte order mark, which is dropped.
/// @pre it is one of UTF-16.
std::unique_ptr<decoder> make_utf16_decoder();

/// Takes the text that `packed` gives as text is taken that comes as it is: UTF-16 is turned into
/// UTF-8, and what is not text is refused, as far as its first bytes say.
std::unique_ptr<decoder> make_packed_text_decoder(std::unique_ptr<decoder> packed);

}  // namespace outsize::io::detail
