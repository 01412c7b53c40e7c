// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Ready stages that work on the items of a buffer. A buffer that ends inside of an item is an error
// of the stage (format_error). Layer: pipeline.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::pipeline {

/// Returns the content of a buffer as items. Throws format_error if it ends inside of an item: the
/// stage that filled it must know how long items are (file_stage_options::item_bytes).
template <typename T>
std::span<T> whole_items(pooled_buffer const& b) {
  if (b.size_bytes() % sizeof(T) != 0)
    throw format_error(
        fmt::format("a buffer of {} bytes is not a whole number of items of {} bytes",
                    b.size_bytes(), sizeof(T)));
  return b.as<T>();
}

/// Sorts the items of each buffer on their own, in place. Calls may be replicated if `less` may be
/// called from several threads.
template <typename T, typename Less = std::less<>>
stage sort_items(Less less = {}, std::string name = "sort") {
  return stage(std::move(name), [less](pooled_buffer& b) {
    auto const items = whole_items<T>(b);
    std::sort(items.begin(), items.end(), less);
  });
}

/// Calls `f(items)` for each buffer.
template <typename T, typename F>
stage on_items(std::string name, F f) {
  return stage(std::move(name),
               [f = std::move(f)](pooled_buffer& b) mutable { f(whole_items<T>(b)); });
}

/// Puts item i of each buffer at `place(i, count)`, which must be a permutation of [0, count).
template <typename T, typename Place>
stage permute_items(Place place, std::string name = "permute") {
  return stage(std::move(name), [place](pooled_buffer& b, pooled_buffer& auxiliary) {
    auto const from = whole_items<T>(b);
    auxiliary.resize_to<T>(from.size());
    auto const to = auxiliary.as<T>();
    for (std::size_t i = 0; i < from.size(); ++i) to[place(i, from.size())] = from[i];
    b.swap_payload(auxiliary);
  });
}

/// Packs items into buffers, one by one or many at a time. Conveys each full buffer, and the last
/// one by finish(). For nodes and external threads; belongs to one thread. Errors: as ports.
template <typename T>
class packer {
 public:
  packer(ports p, std::size_t pool = 0, std::size_t output = 0)
      : ports_(p), pool_(pool), output_(output) {}

  /// Adds an item. Returns whether more are wanted at the output.
  bool push(T const& item) {
    take_buffer();
    room_[count_++] = item;
    if (count_ == room_.size()) convey();
    return wanted_;
  }

  /// Returns the room for the next items, never empty: used() says how many were put there.
  std::span<T> room() {
    take_buffer();
    return room_.subspan(count_);
  }
  /// The first `count` items of room() are filled. Returns whether more are wanted at the output.
  bool used(std::size_t count) {
    count_ += count;
    if (buffer_ && count_ == room_.size()) convey();
    return wanted_;
  }

  /// Conveys what is left.
  void finish() {
    if (buffer_ && count_ > 0) convey();
    buffer_.reset();
  }

 private:
  void take_buffer() {
    if (buffer_) return;
    buffer_ = ports_.take(pool_);
    room_ = buffer_.template room_for<T>();
  }
  void convey() {
    buffer_.template resize_to<T>(count_);
    count_ = 0;
    wanted_ = ports_.convey(std::move(buffer_), output_);
  }

  ports ports_;
  std::size_t pool_;
  std::size_t output_;
  pooled_buffer buffer_;
  std::span<T> room_;
  std::size_t count_ = 0;
  bool wanted_ = true;
};

/// Hands out the items of an input, one by one or by pieces: a piece_reader. For nodes and
/// external threads. Errors: as ports; format_error if a buffer ends inside of an item.
template <typename T>
class unpacker {
 public:
  explicit unpacker(ports p, std::size_t input = 0) : ports_(p), input_(input) {}

  /// Whether there is no further item; waits for the next buffer where needed.
  bool empty() {
    while (next_ == items_.size()) {
      if (ended_) return true;
      next_ = 0;
      items_ = {};
      buffer_.reset();  // home first: the pool may have only one
      auto b = ports_.accept(input_);
      if (!b) {
        ended_ = true;
      } else {
        buffer_ = std::move(*b);
        items_ = whole_items<T>(buffer_);
      }
    }
    return false;
  }
  /// @pre !empty().
  T const& operator*() const { return items_[next_]; }
  unpacker& operator++() {
    ++next_;
    return *this;
  }
  /// The items that are left of the buffer: at least one unless empty().
  std::span<T const> pull() { return empty() ? std::span<T const>() : items_.subspan(next_); }
  /// Goes past `count` items of pull().
  void skip(std::size_t count) { next_ += count; }

 private:
  ports ports_;
  std::size_t input_;
  pooled_buffer buffer_;
  std::span<T const> items_;
  std::size_t next_ = 0;
  bool ended_ = false;
};

}  // namespace outsize::pipeline
