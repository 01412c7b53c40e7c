// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <lz4frame.h>

#include <algorithm>
#include <new>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>

namespace outsize::io::detail {
namespace {

class lz4_decoder final : public decoder {
 public:
  lz4_decoder() {
    if (::LZ4F_isError(::LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0)
      throw std::bad_alloc();
  }
  ~lz4_decoder() override { ::LZ4F_freeDecompressionContext(context_); }

  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool) override {
    if (between_frames_ && in.empty()) return {.complete = true};
    std::size_t consumed = in.size();
    std::size_t produced = out.size();
    auto const result =
        ::LZ4F_decompress(context_, out.data(), &produced, in.data(), &consumed, nullptr);
    if (::LZ4F_isError(result) != 0) throw damaged_data(::LZ4F_getErrorName(result));
    between_frames_ = result == 0;
    if (!between_frames_) note_blocks();
    return {consumed, produced, between_frames_};
  }

  /// A compressed block, and one decoded, with the 64 KiB in front of it that it may refer to.
  std::uint64_t memory_bytes() const noexcept override { return 2 * block_bytes_ + 256_KiB; }

 private:
  /// Blocks have the length that the header of their frame announces, at most.
  void note_blocks() noexcept {
    LZ4F_frameInfo_t frame{};
    std::byte const nothing{};
    std::size_t bytes = 0;
    // An error: the header has not been read yet.
    if (::LZ4F_isError(::LZ4F_getFrameInfo(context_, &frame, &nothing, &bytes)) != 0) return;
    block_bytes_ = std::max(block_bytes_, longest_block_bytes(frame.blockSizeID));
  }

  static std::size_t longest_block_bytes(LZ4F_blockSizeID_t id) noexcept {
    switch (id) {
      case LZ4F_max1MB:
        return 1_MiB;
      case LZ4F_max4MB:
        return 4_MiB;
      case LZ4F_max256KB:
        return 256_KiB;
      default:
        return 64_KiB;
    }
  }

  LZ4F_dctx* context_ = nullptr;
  std::size_t block_bytes_ = 0;
  bool between_frames_ = false;
};

class lz4_encoder final : public encoder {
 public:
  lz4_encoder() {
    if (::LZ4F_isError(::LZ4F_createCompressionContext(&context_, LZ4F_VERSION)) != 0)
      throw std::bad_alloc();
    preferences_.frameInfo.blockSizeID = LZ4F_max256KB;
    preferences_.frameInfo.blockMode = LZ4F_blockIndependent;
    preferences_.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  }
  ~lz4_encoder() override { ::LZ4F_freeCompressionContext(context_); }

  std::span<std::byte const> encode(std::span<std::byte const> piece, bool ends) override {
    // The bound covers what earlier pieces left behind, and the end of the frame.
    out_.resize(LZ4F_HEADER_SIZE_MAX + ::LZ4F_compressBound(piece.size(), &preferences_));
    std::size_t used = 0;
    auto const rest = [&] { return std::span(out_).subspan(used); };
    if (!has_begun_)
      used += ready(::LZ4F_compressBegin(context_, out_.data(), out_.size(), &preferences_));
    has_begun_ = true;
    used += ready(::LZ4F_compressUpdate(context_, rest().data(), rest().size(), piece.data(),
                                        piece.size(), nullptr));
    if (ends) {
      out_.resize(used + ::LZ4F_compressBound(0, &preferences_));
      used += ready(::LZ4F_compressEnd(context_, rest().data(), rest().size(), nullptr));
    }
    return std::span(out_).first(used);
  }

 private:
  // With enough room only memory can be lacking.
  static std::size_t ready(std::size_t result) {
    if (::LZ4F_isError(result) != 0) throw std::bad_alloc();
    return result;
  }

  LZ4F_cctx* context_ = nullptr;
  LZ4F_preferences_t preferences_{};
  std::vector<std::byte> out_;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<decoder> make_lz4_decoder() { return std::make_unique<lz4_decoder>(); }
std::unique_ptr<encoder> make_lz4_encoder() { return std::make_unique<lz4_encoder>(); }

}  // namespace outsize::io::detail
