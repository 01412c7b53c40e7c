// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The kinds of compressed files that streams read and write, and how they are recognised: an input
// by its first bytes, an output by the ending of its name. Other kinds are recognised as well, so
// that nobody takes their bytes for text.
//
// Pure functions, usable from any number of threads. Layer: io.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace outsize::io {

/// How the bytes of a file are compressed.
enum class compression : std::uint8_t { none, gzip, zstd, lz4, xz, bzip2 };

/// "gzip" and so on, as the programs are called; "none".
std::string_view name_of(compression kind) noexcept;

/// The kind of that name; nothing if there is none.
std::optional<compression> compression_called(std::string_view name) noexcept;

/// The kind that the ending of a file's name promises, in any case: .gz, .zst, .lz4, .xz, .bz2;
/// else none.
compression compression_of_name(std::string_view path) noexcept;

/// What the ending of a file's name promises, also of kinds that streams neither read nor write
/// (.zip, .7z, .br and others): what to call it, or an empty text.
std::string_view promise_of_name(std::string_view path) noexcept;

/// As many first bytes as recognition needs.
inline constexpr std::size_t longest_signature_bytes = 24;

/// The kind of a file that begins like this. A skippable frame in front, of which zstd and lz4 have
/// the same, is taken for one of lz4 if it ends within longest_signature_bytes and lz4 follows,
/// else for one of zstd. The legacy format of lz4 is recognised, though no stream reads it.
compression compression_of_bytes(std::span<std::byte const> beginning) noexcept;

/// A compressed file or archive that streams do not read (zip, 7z, rar, compress, lzip, lzma, lzop,
/// snappy), by its first bytes: what to call it, or an empty text.
std::string_view foreign_kind_of_bytes(std::span<std::byte const> beginning) noexcept;

}  // namespace outsize::io
