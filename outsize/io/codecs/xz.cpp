// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <new>

#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>
#include <outsize/io/codecs/growing_bytes.hpp>

namespace outsize::io::detail {
namespace {

constexpr std::uint64_t most_decoder_bytes = 160_MiB;
constexpr std::uint32_t level = 2;  // 17 MiB; the usual one, 6, would take 94 MiB

std::uint8_t const* input_of(std::span<std::byte const> bytes) {
  return reinterpret_cast<std::uint8_t const*>(bytes.data());
}

std::uint8_t* output_of(std::span<std::byte> bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes.data());
}

class xz_decoder final : public decoder {
 public:
  xz_decoder() {
    if (::lzma_stream_decoder(&state_, most_decoder_bytes, LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc();
  }
  ~xz_decoder() override { ::lzma_end(&state_); }

  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool ends) override {
    if (complete_) return {.complete = true};
    state_.next_in = input_of(in);
    state_.avail_in = in.size();
    state_.next_out = output_of(out);
    state_.avail_out = out.size();
    auto const result = ::lzma_code(&state_, ends ? LZMA_FINISH : LZMA_RUN);
    if (result == LZMA_STREAM_END) complete_ = true;
    if (result != LZMA_STREAM_END && result != LZMA_OK && result != LZMA_BUF_ERROR)
      fail(result, in.size() - state_.avail_in);
    memory_bytes_ = std::max(memory_bytes_, ::lzma_memusage(&state_));
    return {in.size() - state_.avail_in, out.size() - state_.avail_out, complete_};
  }

  std::uint64_t memory_bytes() const noexcept override { return memory_bytes_; }

 private:
  [[noreturn]] void fail(lzma_ret result, std::size_t consumed) {
    switch (result) {
      case LZMA_MEM_ERROR:
        throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR:
        throw damaged_data(
            fmt::format("it takes {} of memory, more than {}",
                        format_bytes(::lzma_memusage(&state_)), format_bytes(most_decoder_bytes)),
            consumed);
      case LZMA_FORMAT_ERROR:
        throw damaged_data("not the beginning of an xz stream", consumed);
      case LZMA_OPTIONS_ERROR:
        throw damaged_data("it uses options that are unknown", consumed);
      default:
        throw damaged_data("the data contradict themselves or their checksum", consumed);
    }
  }

  lzma_stream state_ = LZMA_STREAM_INIT;
  std::uint64_t memory_bytes_ = 0;
  bool complete_ = false;
};

class xz_encoder final : public encoder {
 public:
  xz_encoder() {
    if (::lzma_easy_encoder(&state_, level, LZMA_CHECK_CRC64) != LZMA_OK) throw std::bad_alloc();
  }
  ~xz_encoder() override { ::lzma_end(&state_); }

  std::span<std::byte const> encode(std::span<std::byte const> piece, bool ends) override {
    out_.clear();
    state_.next_in = input_of(piece);
    state_.avail_in = piece.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && (ends || state_.avail_in > 0)) {
      auto const room = out_.room();
      state_.next_out = output_of(room);
      state_.avail_out = room.size();
      result = ::lzma_code(&state_, ends ? LZMA_FINISH : LZMA_RUN);
      out_.used(room.size() - state_.avail_out);
    }
    if (result != LZMA_OK && result != LZMA_STREAM_END) throw std::bad_alloc();
    return out_.bytes();
  }

 private:
  lzma_stream state_ = LZMA_STREAM_INIT;
  growing_bytes out_;
};

}  // namespace

std::unique_ptr<decoder> make_xz_decoder() { return std::make_unique<xz_decoder>(); }
std::unique_ptr<encoder> make_xz_encoder() { return std::make_unique<xz_encoder>(); }

}  // namespace outsize::io::detail
