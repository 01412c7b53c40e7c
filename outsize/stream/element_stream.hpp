// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The protocol of streams: items that come one after the other, and are read once.
//
//     for (; !s.empty(); ++s) use(*s);            // element_stream: STXXL's protocol
//     for (; !s.empty(); s.skip(n)) use(s.pull()); // batch_stream: some at a time
//
// Nothing has to be derived from anything: a class with these members is a stream. Concepts. Layer:
// stream. Source: STXXL 2008, section 7; Beckmann, Dementiev, Singler, IPDPS 2009, section 3.1.

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <outsize/base/external_item.hpp>
#include <outsize/base/piece_reader.hpp>

namespace outsize::stream {

namespace detail {

template <typename S>
struct item_of_stream {
  using type = std::remove_cvref_t<decltype(*std::declval<S&>())>;
};
template <typename S>
  requires requires { typename S::value_type; }
struct item_of_stream<S> {
  using type = typename S::value_type;
};

}  // namespace detail

/// The items of a stream: S::value_type, or else the type of `*s`.
template <typename S>
using stream_item_t = typename detail::item_of_stream<std::remove_reference_t<S>>::type;

/// `*s` is the current item until `++s`, which is valid unless `s.empty()`.
template <typename S>
concept element_stream = requires(S& s) {
  { s.empty() } -> std::convertible_to<bool>;
  *s;
  ++s;
  typename stream_item_t<S>;
};

namespace detail {

template <typename Derived, typename T>
void show_backward(piece_reader_interface<Derived, T, true> const*);
/// Readers from back to front show pieces whose last item comes first.
template <typename S>
concept backward_stream = requires(S const* s) { detail::show_backward(s); };

}  // namespace detail

/// A stream that also shows items where they lie: `s.pull()` is at least one item unless
/// `s.empty()`, and `s.skip(n)` goes past the first `n` of them. Readers of pieces are such
/// streams.
template <typename S>
concept batch_stream =
    element_stream<S> && !detail::backward_stream<S> && requires(S& s, std::size_t count) {
      { s.pull() } -> std::convertible_to<std::span<stream_item_t<S> const>>;
      s.skip(count);
    };

/// Byte strings of any length: std::string_view, std::string.
template <typename T>
concept byte_string =
    std::convertible_to<T const&, std::string_view> && !std::is_pointer_v<T> && !std::is_array_v<T>;

/// Items that can go from one part of a graph to another: through a sort, a store, or a channel.
template <typename T>
concept flowing_item = byte_string<T> || external_item<T>;

namespace detail {

template <typename T>
struct stored_form {
  using type = T;
};
template <byte_string T>
struct stored_form<T> {
  using type = std::string_view;
};

}  // namespace detail

/// The form of an item behind a boundary: itself, or a view of a byte string.
template <typename T>
using stored_form_t = typename detail::stored_form<T>::type;

}  // namespace outsize::stream
