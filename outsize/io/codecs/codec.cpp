// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/codecs/codec.hpp>

#include <outsize/base/assert.hpp>

namespace outsize::io::detail {

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
