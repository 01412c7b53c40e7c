// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <zstd.h>

#include <memory>
#include <new>

#include <outsize/io/codecs/codec.hpp>
#include <outsize/io/codecs/growing_bytes.hpp>

namespace outsize::io::detail {
namespace {

struct free_context {
  void operator()(ZSTD_DCtx* context) const noexcept { ::ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const noexcept { ::ZSTD_freeCCtx(context); }
};

// Windows beyond 128 MiB are refused, as the program zstd does by itself.
class zstd_decoder final : public decoder {
 public:
  zstd_decoder() : context_(::ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool) override {
    if (between_frames_ && in.empty()) return {.complete = true};
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    auto const result = ::ZSTD_decompressStream(context_.get(), &to, &from);
    if (::ZSTD_isError(result) != 0) throw damaged_data(::ZSTD_getErrorName(result));
    between_frames_ = result == 0;
    return {from.pos, to.pos, between_frames_};
  }

  std::uint64_t memory_bytes() const noexcept override {
    return ::ZSTD_sizeof_DCtx(context_.get());
  }

 private:
  std::unique_ptr<ZSTD_DCtx, free_context> context_;
  bool between_frames_ = false;
};

class zstd_encoder final : public encoder {
 public:
  zstd_encoder() : context_(::ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  std::span<std::byte const> encode(std::span<std::byte const> piece, bool ends) override {
    out_.clear();
    ZSTD_inBuffer from{piece.data(), piece.size(), 0};
    bool done = piece.empty() && !ends;
    while (!done) {
      auto const room = out_.room();
      ZSTD_outBuffer to{room.data(), room.size(), 0};
      auto const left =
          ::ZSTD_compressStream2(context_.get(), &to, &from, ends ? ZSTD_e_end : ZSTD_e_continue);
      if (::ZSTD_isError(left) != 0) throw std::bad_alloc();  // nothing else can go wrong
      out_.used(to.pos);
      done = ends ? left == 0 : from.pos == from.size;
    }
    return out_.bytes();
  }

 private:
  std::unique_ptr<ZSTD_CCtx, free_context> context_;
  growing_bytes out_;
};

}  // namespace

std::unique_ptr<decoder> make_zstd_decoder() { return std::make_unique<zstd_decoder>(); }
std::unique_ptr<encoder> make_zstd_encoder() { return std::make_unique<zstd_encoder>(); }

}  // namespace outsize::io::detail
