// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Pairs of little-endian numbers of 4 or 8 bytes, and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/graph/detail/edge_file.hpp>
#include <outsize/record/detail/cut_short.hpp>

namespace outsize::graphs::detail {
namespace {

static_assert(std::endian::native == std::endian::little);

template <vertex_number Vertex>
class binary_edges final : public edge_file {
 public:
  binary_edges(std::unique_ptr<io::input_stream> in, std::uint64_t vertices)
      : in_(std::move(in)), range_{0, vertices} {}

  std::span<edge<std::uint64_t> const> next() override {
    edges_.clear();
    while (edges_.empty()) {
      if (view_.empty()) view_ = in_->next();
      if (view_.empty()) {
        if (part_bytes_ > 0)
          outsize::detail::throw_cut_short(in_->name(), pairs_ * pair_bytes + part_bytes_,
                                           pair_bytes);
        break;
      }
      if (part_bytes_ > 0 || view_.size() < pair_bytes)
        complete_part();
      else
        take_pairs();
    }
    return edges_;
  }

 private:
  static constexpr std::size_t pair_bytes = 2 * sizeof(Vertex);
  static constexpr std::size_t batch_pairs = 2048;

  /// Puts a pair together that lies in several views.
  void complete_part() {
    std::size_t const count = std::min(pair_bytes - part_bytes_, view_.size());
    std::memcpy(part_.data() + part_bytes_, view_.data(), count);
    part_bytes_ += count;
    view_ = view_.subspan(count);
    if (part_bytes_ < pair_bytes) return;
    push(part_.data());
    part_bytes_ = 0;
  }
  void take_pairs() {
    std::size_t const count = std::min(view_.size() / pair_bytes, batch_pairs);
    for (std::size_t i = 0; i < count; ++i) push(view_.data() + i * pair_bytes);
    view_ = view_.subspan(count * pair_bytes);
  }
  void push(std::byte const* pair) {
    std::array<Vertex, 2> ends;
    std::memcpy(ends.data(), pair, pair_bytes);
    ++pairs_;
    for (std::uint64_t const v : ends)
      if (!range_.has(v))
        throw format_error(
            fmt::format("{}: pair {}: {}", in_->name(), pairs_, reason_against(v, range_)));
    edges_.push_back({ends[0], ends[1]});
  }

  std::unique_ptr<io::input_stream> in_;
  vertex_range range_;
  std::span<std::byte const> view_;
  std::array<std::byte, pair_bytes> part_{};
  std::size_t part_bytes_ = 0;
  std::uint64_t pairs_ = 0;  // so far
  edge_batch edges_;
};

}  // namespace

std::unique_ptr<edge_file> open_binary_edges(std::unique_ptr<io::input_stream> in,
                                             std::uint64_t vertices, std::size_t vertex_bytes) {
  if (vertex_bytes == sizeof(std::uint32_t))
    return std::make_unique<binary_edges<std::uint32_t>>(std::move(in), vertices);
  return std::make_unique<binary_edges<std::uint64_t>>(std::move(in), vertices);
}

}  // namespace outsize::graphs::detail
