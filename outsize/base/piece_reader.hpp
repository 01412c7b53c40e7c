// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Readers of pieces: items are shown where they lie, some at a time, and are read once, one by one,
// piece by piece, or as a single-pass range. The three ways can be mixed.
//
// piece_reader is the concept that algorithms ask for. piece_reader_interface gives a class its
// members, and those for the other two ways.
//
//   piece:   | read | read | next | … |      pull(): from `next` on; the reader goes on to another
//                          ▲                 piece when that is asked for, and none is left of this
//
// Invariant: the place of the next item is kept in the reader and nowhere else, so no way of
// reading shows an item twice or leaves one out. One thread at a time. Layer: base.

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize {

/// A class that shows the items that come next in contiguous pieces: pull() returns at least one
/// unless empty(), skip(n) goes past the first n of them.
template <typename R>
concept piece_reader = requires(R& reader, std::size_t count) {
  { reader.empty() } -> std::same_as<bool>;
  { std::span(reader.pull()) };
  reader.skip(count);
};

/// What pull() shows.
template <piece_reader R>
using piece_item_t =
    std::remove_const_t<typename decltype(std::span(std::declval<R&>().pull()))::element_type>;

/// Reads one item after another: what `for (auto const& item : reader)` uses. As the iterators of
/// std::ranges::istream_view it is moved, not copied, and only goes forward. An item has been read
/// when it was dereferenced or passed by ++, so a loop that is left early leaves the items that it
/// has not seen, and the next loop, or any other use of the reader, begins with these.
/// Errors: those of the reader, from the dereference of the first item of a piece.
template <typename Reader>
class piece_iterator {
 public:
  using value_type = typename Reader::value_type;
  using difference_type = std::ptrdiff_t;

  piece_iterator() = default;
  explicit piece_iterator(Reader& in) noexcept : in_(&in) {}
  piece_iterator(piece_iterator&&) noexcept = default;
  piece_iterator& operator=(piece_iterator&&) noexcept = default;

  /// The item, which stays where it is until another piece is needed.
  value_type const& operator*() const {
    if (read_ == nullptr) read_ = &in_->take();
    return *read_;
  }
  value_type const* operator->() const { return &**this; }
  piece_iterator& operator++() {
    if (std::exchange(read_, nullptr) == nullptr) in_->take();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(piece_iterator const& i, std::default_sentinel_t) noexcept {
    return i.read_ == nullptr && i.in_->empty();
  }

 private:
  Reader* in_ = nullptr;
  mutable value_type const* read_ = nullptr;  // the current item, once it was looked at
};

/// The members of a reader. Derived has a function go_on(), which calls show() with the next
/// piece, or not if there is none. It may throw, and is called again then by whatever needs an item
/// next: it must throw again, or show the piece.
/// @tparam is_backward  Whether a piece ends with the item that comes first.
template <typename Derived, typename T, bool is_backward = false>
class piece_reader_interface {
 public:
  using value_type = T;

  piece_reader_interface() = default;
  piece_reader_interface(piece_reader_interface&& other) noexcept
      : next_(std::exchange(other.next_, nullptr)), end_(std::exchange(other.end_, nullptr)) {}
  piece_reader_interface& operator=(piece_reader_interface&& other) noexcept {
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    return *this;
  }

  /// Whether all items have been read. If the next piece cannot be had it has not, and whatever
  /// asks for an item throws.
  bool empty() noexcept { return next_ == end_ && self().is_over(); }

  /// The current item. @pre !empty(). @throws what the reader throws that needs another piece.
  T const& operator*() {
    need_item();
    return item();
  }
  T const* operator->() { return &**this; }
  /// Goes to the next item. @pre !empty().
  Derived& operator++() {
    take();
    return self();
  }

  /// The current item and those that follow it in its piece: at least one unless empty(). Backward,
  /// the last one is the current one. Valid until another piece is needed.
  std::span<T const> pull() {
    if (next_ == end_) self().go_on();
    return rest();
  }
  /// Goes past `count` of the items of pull(), the current one first.
  void skip(std::size_t count) {
    if (count > 0 && next_ == end_) self().go_on();
    OUTSIZE_ASSERT(count <= left());
    next_ = is_backward ? next_ - count : next_ + count;
  }

  /// What is left as a range, over which one goes once.
  auto begin() { return piece_iterator<Derived>(self()); }
  static std::default_sentinel_t end() noexcept { return {}; }

 protected:
  ~piece_reader_interface() = default;

  /// Has these items come next. @pre all of the piece before have been read.
  void show(std::span<T const> piece) noexcept {
    next_ = is_backward ? piece.data() + piece.size() : piece.data();
    end_ = is_backward ? piece.data() : piece.data() + piece.size();
  }
  /// Items of the piece that have not been read.
  std::size_t left() const noexcept {
    return static_cast<std::size_t>(is_backward ? next_ - end_ : end_ - next_);
  }
  std::span<T const> rest() const noexcept { return {is_backward ? end_ : next_, left()}; }
  /// Whether there are no more items, asked when the piece has been read; Derived may know better.
  bool is_over() noexcept {
    try {
      self().go_on();
    } catch (...) {
      return false;  // whatever needs an item will be told
    }
    return next_ == end_;
  }

 private:
  friend piece_iterator<Derived>;

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  T const& item() const noexcept { return is_backward ? *(next_ - 1) : *next_; }
  void need_item() {
    if (next_ == end_) [[unlikely]] {
      self().go_on();
      OUTSIZE_ASSERT(next_ != end_ && "an item behind the last one");
    }
  }
  /// The current item, which has been read then.
  T const& take() {
    need_item();
    T const& taken = item();
    next_ = is_backward ? next_ - 1 : next_ + 1;
    return taken;
  }

  T const* next_ = nullptr;  // backward: behind it
  T const* end_ = nullptr;
};

}  // namespace outsize
