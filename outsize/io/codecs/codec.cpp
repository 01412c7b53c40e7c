// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/codecs/codec.hpp>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io::detail {

std::uint64_t encoder_memory_bytes(compression kind) noexcept {
  constexpr std::uint64_t windows = 1_MiB;  // encoded bytes, on their way to the file
  switch (kind) {
    case compression::gzip:
      return windows + 320_KiB;
    case compression::zstd:
      return windows + 4_MiB;
    case compression::lz4:
      return windows + 1_MiB;
    case compression::xz:
      return windows + 17_MiB;
    case compression::bzip2:
      return windows + 8_MiB;
    case compression::none:
      break;
  }
  return 0;
}

std::unique_ptr<decoder> make_decoder(compression kind) {
  OUTSIZE_ASSERT(kind != compression::none);
  switch (kind) {
    case compression::gzip:
      return make_gzip_decoder();
    case compression::zstd:
      return make_zstd_decoder();
    case compression::lz4:
      return make_lz4_decoder();
    case compression::xz:
      return make_xz_decoder();
    case compression::bzip2:
      return make_bzip2_decoder();
    case compression::none:
      break;
  }
  return nullptr;
}

std::unique_ptr<encoder> make_encoder(compression kind) {
  OUTSIZE_ASSERT(kind != compression::none);
  switch (kind) {
    case compression::gzip:
      return make_gzip_encoder();
    case compression::zstd:
      return make_zstd_encoder();
    case compression::lz4:
      return make_lz4_encoder();
    case compression::xz:
      return make_xz_encoder();
    case compression::bzip2:
      return make_bzip2_encoder();
    case compression::none:
      break;
  }
  return nullptr;
}

}  // namespace outsize::io::detail
