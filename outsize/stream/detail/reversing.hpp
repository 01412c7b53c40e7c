// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A reversing node: the boundary at which items rest in a vector, and are read from its end.
//
//   phase k      writer: fills pages of the vector       | a b c | d e f | g |
//   phase k + 1  reader: goes through them backward        g   f e d   c b a
//
//   byte strings  | bytes | length | bytes | length |    so that the length is met first
//
// Invariant: a named number of pages is in memory. One thread at a time uses each end. Layer:
// stream, internal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/link.hpp>
#include <outsize/stream/detail/record_gatherer.hpp>
#include <outsize/stream/detail/vector_filler.hpp>

namespace outsize::stream::detail {

/// Shows the items of a vector, the last one first.
template <external_item T>
class backward_reader final : public boundary_reader<T> {
 public:
  backward_reader(segment_context& c, vector<T> const& from) : context_(c), from_(from) {}

 private:
  bool more() override {
    auto const piece = context_.outside([this] { return from_.pull(); });
    std::size_t const count = std::min(piece.size(), room_.size());
    std::ranges::reverse_copy(piece.last(count), room_.begin());
    from_.skip(count);
    context_.note(count, count * sizeof(T));
    this->show(std::span(room_).first(count));
    return count > 0;
  }

  segment_context& context_;
  vector_reverse_reader<T> from_;
  std::vector<T> room_ = std::vector<T>(std::max<std::size_t>(1, 64_KiB / sizeof(T)));
};

/// Puts byte strings into a vector, each in front of its length.
class record_filler final : public record_gatherer {
 public:
  record_filler(segment_context& c, vector<std::byte>& to) : record_gatherer(c), to_(to) {}

 private:
  void take(std::span<std::string_view const> records) override {
    for (std::string_view const r : records) {
      auto const bytes = static_cast<std::uint32_t>(r.size());
      to_.push(std::as_bytes(std::span(r)));
      to_.push(std::as_bytes(std::span(&bytes, 1)));
    }
  }
  void finish() override { to_.finish(); }

  vector_writer<std::byte> to_;
};

/// Shows them as boundaries have them, each behind its length, the last one first.
class backward_record_reader final : public boundary_reader<std::byte> {
 public:
  backward_record_reader(segment_context& c, vector<std::byte> const& from)
      : context_(c), from_(from) {
    room_.resize(64_KiB);
  }

 private:
  bool more() override {
    std::size_t const filled = context_.outside([this] { return fill(); });
    context_.note(0, filled);
    this->show(std::span(room_).first(filled));
    return filled > 0;
  }
  /// Returns how many bytes there are of the next records.
  std::size_t fill() {
    std::size_t filled = 0;
    while (has_length_ || !from_.empty()) {
      if (!std::exchange(has_length_, true))
        take_last(std::as_writable_bytes(std::span(&length_, 1)));
      std::size_t const need = filled + sizeof length_ + length_;
      if (need > room_.size() && filled > 0) break;
      if (need > room_.size()) room_.resize(need);
      std::memcpy(&room_[filled], &length_, sizeof length_);
      take_last(std::span(room_).subspan(filled + sizeof length_, length_));
      has_length_ = false;
      filled = need;
    }
    return filled;
  }
  void take_last(std::span<std::byte> to) {
    while (!to.empty()) {
      auto const piece = from_.pull();
      std::size_t const count = std::min(piece.size(), to.size());
      std::ranges::copy(piece.last(count), to.last(count).begin());
      to = to.first(to.size() - count);
      from_.skip(count);
    }
  }

  segment_context& context_;
  vector_reverse_reader<std::byte> from_;
  std::vector<std::byte> room_;
  std::uint32_t length_ = 0;  // of the record that comes next
  bool has_length_ = false;
};

/// A boundary at which items are turned round.
/// @tparam Unit, Writer, Reader  Items as they are, or the bytes of byte strings.
template <external_item Unit, typename Writer, typename Reader>
class reversing final : public boundary<Unit> {
 public:
  reversing(std::string name, std::source_location place, std::size_t item_bytes)
      : boundary<Unit>(boundary_base::kind::store, std::move(name), place),
        item_bytes_(item_bytes) {}

  std::size_t item_bytes() const noexcept override { return item_bytes_; }
  void begin_writing(storage& store, std::stop_token const&) override {
    page_options options;
    options.page_bytes = store_block_bytes(store, sizeof(Unit));
    options.cache_pages = cache_pages;
    options.spare_pages = spare_pages;
    items_.emplace(store, options);
  }
  memory_claim writing_claim(storage& store) const override {
    return memory_claim::fixed((cache_pages + spare_pages) *
                               store_block_bytes(store, sizeof(Unit)));
  }
  memory_claim reading_claim(storage&) const override {
    return memory_claim::fixed(0);  // since it has its memory
  }
  void end_reading() noexcept override { items_.reset(); }

  std::unique_ptr<boundary_writer<Unit>> open_writer(segment_context& c) override {
    return std::make_unique<Writer>(c, *items_);
  }
  std::unique_ptr<boundary_reader<Unit>> open_reader(segment_context& c) override {
    return std::make_unique<Reader>(c, *items_);
  }

 private:
  static constexpr std::size_t cache_pages = 8, spare_pages = 4;

  std::size_t item_bytes_;
  std::optional<vector<Unit>> items_;
};

/// A reversing node for items of type T.
template <typename T>
std::shared_ptr<boundary_of<T>> make_reversing(std::string name,
                                               std::source_location const& place) {
  if constexpr (byte_string<T>) {
    return std::make_shared<reversing<std::byte, record_filler, backward_record_reader>>(
        std::move(name), place, 0);
  } else {
    return std::make_shared<reversing<T, vector_filler<T>, backward_reader<T>>>(std::move(name),
                                                                                place, sizeof(T));
  }
}

}  // namespace outsize::stream::detail
