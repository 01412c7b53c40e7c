// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// as_range(stream): a stream as a range that is read once, for loops and the standard algorithms.
//
//     for (auto const& x : as_range(s)) use(x);
//     auto const r = as_range(s);
//     auto const sum = std::accumulate(r.begin(), r.end(), 0);
//
// The other way round, from(range) begins a flow at a range. Invariant: an iterator holds nothing
// but the address of the stream, so that all copies of it go on together. One thread at a time.
// Layer: stream.

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <outsize/stream/element_stream.hpp>

namespace outsize::stream {
namespace detail {

/// How an iterator shows the items: as the stream does, if std::input_iterator allows that beside
/// the items' type.
template <typename S>
struct shown_item {
  using type = stream_item_t<S>;
};
template <typename S>
  requires std::common_reference_with<decltype(*std::declval<S&>())&&, stream_item_t<S>&>
struct shown_item<S> {
  using type = decltype(*std::declval<S&>());
};

}  // namespace detail

/// An iterator of a stream: at the current item, or at the end.
template <element_stream S>
class stream_iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = stream_item_t<S>;
  using difference_type = std::ptrdiff_t;
  using reference = typename detail::shown_item<S>::type;
  using pointer = void;

  stream_iterator() = default;  ///< The end.
  explicit stream_iterator(S& s) noexcept : stream_(std::addressof(s)) {}

  /// Asks whether there is an item first, as a stream may need, since some algorithms know it and
  /// do not ask.
  reference operator*() const {
    static_cast<void>(stream_->empty());
    return static_cast<reference>(**stream_);
  }
  stream_iterator& operator++() {
    ++*stream_;
    return *this;
  }
  /// Returns an object that has the item from before at `*`.
  auto operator++(int) {
    struct item_before {
      value_type item;
      value_type const& operator*() const noexcept { return item; }
    };
    item_before before{static_cast<value_type>(**this)};
    ++*this;
    return before;
  }

  /// Returns true if both are at the end, or neither is.
  friend bool operator==(stream_iterator const& a, stream_iterator const& b) {
    return a.is_at_end() == b.is_at_end();
  }

 private:
  bool is_at_end() const { return stream_ == nullptr || stream_->empty(); }

  S* stream_ = nullptr;
};

/// A stream as an input range: std::ranges::input_range, common_range and view. It refers to the
/// stream if S is a reference; else it owns it.
template <typename S>
  requires element_stream<std::remove_reference_t<S>>
class stream_range : public std::ranges::view_base {
  using stream = std::remove_reference_t<S>;
  using held = std::conditional_t<std::is_reference_v<S>, stream*, stream>;

 public:
  explicit stream_range(stream& s) noexcept
    requires std::is_reference_v<S>
      : stream_(std::addressof(s)) {}
  explicit stream_range(stream s)
    requires(!std::is_reference_v<S>)
      : stream_(std::move(s)) {}

  /// Begins at the current item of the stream.
  stream_iterator<stream> begin() const
    requires std::is_reference_v<S>
  {
    return stream_iterator<stream>(*stream_);
  }
  stream_iterator<stream> begin()
    requires(!std::is_reference_v<S>)
  {
    return stream_iterator<stream>(stream_);
  }
  stream_iterator<stream> end() const noexcept { return {}; }

 private:
  held stream_;
};

/// Returns the items of a stream as a range, which is read once. A stream that is an lvalue must
/// outlive it; else the range owns it. The stream stands behind the last item that was read.
/// Checked: stream_range_test.cpp.
template <typename S>
  requires element_stream<std::remove_reference_t<S>>
stream_range<S> as_range(S&& s) {
  return stream_range<S>(std::forward<S>(s));
}

}  // namespace outsize::stream

/// Iterators outlive a range that refers to its stream.
template <typename S>
inline constexpr bool std::ranges::enable_borrowed_range<outsize::stream::stream_range<S&>> = true;
