// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>
#include <outsize/io/codecs/growing_bytes.hpp>

namespace outsize::io::detail {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // the largest window; 16 stands for gzip's header

uInt length_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

// zlib's interface has no const.
Bytef* input_of(std::span<std::byte const> bytes) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
}

Bytef* output_of(std::span<std::byte> bytes) { return reinterpret_cast<Bytef*>(bytes.data()); }

class gzip_decoder final : public decoder {
 public:
  gzip_decoder() {
    if (::inflateInit2(&state_, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_decoder() override { ::inflateEnd(&state_); }

  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool) override {
    if (between_members_) {
      if (in.empty()) return {.complete = true};
      ::inflateReset(&state_);
    }
    state_.next_in = input_of(in);
    state_.avail_in = length_of(in.size());
    state_.next_out = output_of(out);
    state_.avail_out = length_of(out.size());
    int const result = ::inflate(&state_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw damaged_data(state_.msg != nullptr ? state_.msg : "unknown contents",
                         length_of(in.size()) - state_.avail_in);
    between_members_ = result == Z_STREAM_END;
    return {length_of(in.size()) - state_.avail_in, length_of(out.size()) - state_.avail_out,
            between_members_};
  }

  std::uint64_t memory_bytes() const noexcept override { return 48_KiB; }  // whatever the file

 private:
  z_stream state_{};
  bool between_members_ = false;
};

class gzip_encoder final : public encoder {
 public:
  gzip_encoder() {
    constexpr int usual_memory_level = 8;
    if (::deflateInit2(&state_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits,
                       usual_memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~gzip_encoder() override { ::deflateEnd(&state_); }

  std::span<std::byte const> encode(std::span<std::byte const> piece, bool ends) override {
    out_.clear();
    state_.next_in = input_of(piece);
    state_.avail_in = length_of(piece.size());
    do {
      auto const room = out_.room();
      state_.next_out = output_of(room);
      state_.avail_out = length_of(room.size());
      ::deflate(&state_, ends ? Z_FINISH : Z_NO_FLUSH);
      out_.used(room.size() - state_.avail_out);
    } while (state_.avail_out == 0);
    return out_.bytes();
  }

 private:
  z_stream state_{};
  growing_bytes out_;
};

}  // namespace

std::unique_ptr<decoder> make_gzip_decoder() { return std::make_unique<gzip_decoder>(); }
std::unique_ptr<encoder> make_gzip_encoder() { return std::make_unique<gzip_encoder>(); }

}  // namespace outsize::io::detail
