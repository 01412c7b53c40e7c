// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The handle of a buffer that travels through a network of stages, and goes home by itself.
//
//   pooled_buffer ──▶ thumbnail { round, last, user value, used bytes } ──▶ memory
//
// A thumbnail belongs to one pool for good; the memory behind it can be exchanged with that of
// another (swap_payload). Invariant: whoever holds the handle is the only one who sees the
// thumbnail and its memory; when the handle ends, on whatever path, both go back to the pool.
// A handle belongs to one thread at a time; it may end on any. Layer: pipeline. Source: Cormen,
// Davidson: FG, 2004, sections 2 (thumbnails, rounds) and 3 (buffer swapping, the caboose).

#include <any>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::pipeline {

namespace detail {

class buffer_home;

/// What a network knows about one buffer; see the top of this file.
struct thumbnail {
  buffer_home* home = nullptr;
  std::span<std::byte> memory;
  std::size_t used_bytes = 0;
  std::uint64_t round = 0;
  bool last = false;
  std::size_t index = 0;  // in its pool
  std::any user;
  std::int64_t queued_ns = 0;  // when it was put where it waits now
};

/// Where thumbnails go when nobody needs them.
class buffer_home {
 public:
  virtual void take_back(thumbnail& unused) noexcept = 0;

 protected:
  ~buffer_home() = default;
};

}  // namespace detail

/// Owns a buffer of a pool until it is conveyed, moved from or destroyed. To use it afterwards is a
/// mistake that is asserted.
class pooled_buffer {
 public:
  pooled_buffer() = default;
  pooled_buffer(pooled_buffer&& other) noexcept
      : thumbnail_(std::exchange(other.thumbnail_, nullptr)) {}
  pooled_buffer& operator=(pooled_buffer&& other) noexcept {
    if (this != &other) {
      reset();
      thumbnail_ = std::exchange(other.thumbnail_, nullptr);
    }
    return *this;
  }
  ~pooled_buffer() { reset(); }

  explicit operator bool() const noexcept { return thumbnail_ != nullptr; }
  /// Sends the buffer home now.
  void reset() noexcept {
    if (auto* t = std::exchange(thumbnail_, nullptr)) t->home->take_back(*t);
  }

  /// All of its memory: page-aligned, ready for direct I/O.
  std::span<std::byte> memory() const noexcept { return lent().memory; }
  std::size_t capacity_bytes() const noexcept { return lent().memory.size(); }
  /// The part that holds something, from the front. Empty when it comes from the pool.
  std::span<std::byte> bytes() const noexcept {
    return memory().first(capacity_bytes() == 0 ? 0 : lent().used_bytes);
  }
  std::size_t size_bytes() const noexcept { return lent().used_bytes; }
  /// Sets how much of it holds something; in a pool without memory, of how many bytes elsewhere the
  /// buffer tells. @pre bytes <= capacity_bytes(), unless that is 0.
  void resize(std::size_t bytes) noexcept {
    OUTSIZE_ASSERT(bytes <= capacity_bytes() || capacity_bytes() == 0);
    lent().used_bytes = bytes;
  }

  /// The used part as items; a rest that is no whole item is left out. whole_items() (in
  /// item_stages.hpp) takes that for an error.
  template <typename T>
  std::span<T> as() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>, "items in buffers must be trivially copyable");
    return {reinterpret_cast<T*>(memory().data()), bytes().size() / sizeof(T)};
  }
  /// All of its memory as room for items.
  template <typename T>
  std::span<T> room_for() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>, "items in buffers must be trivially copyable");
    return {reinterpret_cast<T*>(memory().data()), capacity_bytes() / sizeof(T)};
  }
  /// Says how many items the used part holds.
  template <typename T>
  void resize_to(std::size_t items) noexcept {
    resize(items * sizeof(T));
  }

  /// Which of its pool's buffers it is, from 0 on: for what else belongs to it for good, such as
  /// memory of the user's own.
  std::size_t index() const noexcept { return lent().index; }
  /// How many buffers its pool had emitted before it.
  std::uint64_t round() const noexcept { return lent().round; }
  /// Whether no buffer follows it (the caboose): set for the last of a counted number of rounds,
  /// and by a stage that knows.
  bool last() const noexcept { return lent().last; }
  /// Says that no buffer follows: a source that conveys it is not called again.
  void mark_last() noexcept { lent().last = true; }

  /// A value of the user's that travels with the buffer, made when first asked for, and gone when
  /// the buffer goes home, or where it is turned away because nothing more is wanted, before it is
  /// handed out again. It ends on the thread that did that, outside of the network's lock, and may
  /// hold other buffers. @pre it is always asked for as the same type.
  template <typename T>
  T& user() {
    if (!lent().user.has_value()) lent().user.emplace<T>();
    T* const value = std::any_cast<T>(&lent().user);
    OUTSIZE_ASSERT(value != nullptr);
    return *value;
  }

  /// Exchanges memory and used bytes with `other`; rounds, flags and user values stay.
  void swap_payload(pooled_buffer& other) noexcept {
    std::swap(lent().memory, other.lent().memory);
    std::swap(lent().used_bytes, other.lent().used_bytes);
  }

  /// For networks: takes over a thumbnail, or gives it up.
  explicit pooled_buffer(detail::thumbnail& t) noexcept : thumbnail_(&t) {}
  detail::thumbnail* release() noexcept { return std::exchange(thumbnail_, nullptr); }

 private:
  detail::thumbnail& lent() const noexcept {
    OUTSIZE_ASSERT(thumbnail_ != nullptr && "a buffer used after it was conveyed or moved from");
    return *thumbnail_;
  }

  detail::thumbnail* thumbnail_ = nullptr;
};

}  // namespace outsize::pipeline
