// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>
#include <outsize/io/codecs/growing_bytes.hpp>

namespace outsize::io::detail {
namespace {

constexpr int level = 9;  // blocks of 900 KB, the library's own choice

unsigned length_of(std::size_t bytes) {
  return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max()));
}

// The library's interface has no const.
char* input_of(std::span<std::byte const> bytes) {
  return reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));
}

char* output_of(std::span<std::byte> bytes) { return reinterpret_cast<char*>(bytes.data()); }

class bzip2_decoder final : public decoder {
 public:
  bzip2_decoder() { begin(); }
  ~bzip2_decoder() override { ::BZ2_bzDecompressEnd(&state_); }

  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool) override {
    if (between_streams_) {
      if (in.empty()) return {.complete = true};
      ::BZ2_bzDecompressEnd(&state_);
      state_ = {};
      begin();
    }
    state_.next_in = input_of(in);
    state_.avail_in = length_of(in.size());
    state_.next_out = output_of(out);
    state_.avail_out = length_of(out.size());
    int const result = ::BZ2_bzDecompress(&state_);
    std::size_t const consumed = length_of(in.size()) - state_.avail_in;
    if (result == BZ_MEM_ERROR) throw std::bad_alloc();
    if (result == BZ_DATA_ERROR_MAGIC)
      throw damaged_data("not the beginning of a bzip2 stream", consumed);
    if (result != BZ_OK && result != BZ_STREAM_END)
      throw damaged_data("the data contradict themselves or their checksum", consumed);
    between_streams_ = result == BZ_STREAM_END;
    return {consumed, length_of(out.size()) - state_.avail_out, between_streams_};
  }

  std::uint64_t memory_bytes() const noexcept override { return 4_MiB; }  // for its longest blocks

 private:
  void begin() {
    constexpr int silent = 0, fast = 0;
    if (::BZ2_bzDecompressInit(&state_, silent, fast) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream state_{};
  bool between_streams_ = false;
};

class bzip2_encoder final : public encoder {
 public:
  bzip2_encoder() {
    constexpr int silent = 0, usual_effort = 0;
    if (::BZ2_bzCompressInit(&state_, level, silent, usual_effort) != BZ_OK) throw std::bad_alloc();
  }
  ~bzip2_encoder() override { ::BZ2_bzCompressEnd(&state_); }

  std::span<std::byte const> encode(std::span<std::byte const> piece, bool ends) override {
    out_.clear();
    state_.next_in = input_of(piece);
    state_.avail_in = length_of(piece.size());
    bool goes_on = ends || !piece.empty();
    while (goes_on) {
      auto const room = out_.room();
      state_.next_out = output_of(room);
      state_.avail_out = length_of(room.size());
      int const result = ::BZ2_bzCompress(&state_, ends ? BZ_FINISH : BZ_RUN);
      out_.used(room.size() - state_.avail_out);
      goes_on = ends ? result == BZ_FINISH_OK : state_.avail_in > 0;
    }
    return out_.bytes();
  }

 private:
  bz_stream state_{};
  growing_bytes out_;
};

}  // namespace

std::unique_ptr<decoder> make_bzip2_decoder() { return std::make_unique<bzip2_decoder>(); }
std::unique_ptr<encoder> make_bzip2_encoder() { return std::make_unique<bzip2_encoder>(); }

}  // namespace outsize::io::detail
