// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Copies of items, which stay valid while the stream goes on: the bytes of a byte string are copied
// with it.
//
//   kept_form<T>    the type that owns an item of type T, and both conversions
//   item_copy<T>    one item, or none
//   item_copies<T>  contiguous items, shown as T
//
// Views inside tuples and pairs count as well. The members of other classes are not looked at.
// Layer: stream, internal.

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/stream/element_stream.hpp>

namespace outsize::stream::detail {

/// Says how an item of type T is kept. `of(item)` is its copy; `show(kept)` is the item again,
/// valid as long as the copy.
template <typename T>
struct kept_form {
  using type = T;
  template <typename Item>
  static T of(Item&& item) {
    return static_cast<T>(std::forward<Item>(item));
  }
  static T const& show(T const& kept) noexcept { return kept; }
};
template <typename T>
using kept_form_t = typename kept_form<T>::type;

template <byte_string T>
  requires(!std::same_as<T, std::string> && std::convertible_to<std::string const&, T>)
struct kept_form<T> {
  using type = std::string;
  static std::string of(std::string_view item) { return std::string(item); }
  static T show(std::string const& kept) { return kept; }
};

template <typename... Parts>
struct kept_form<std::tuple<Parts...>> {
  using type = std::tuple<kept_form_t<Parts>...>;
  template <typename Item>
  static type of(Item const& item) {
    return std::apply([](auto const&... parts) { return type(kept_form<Parts>::of(parts)...); },
                      item);
  }
  static decltype(auto) show(type const& kept) {
    if constexpr (std::same_as<type, std::tuple<Parts...>>) {
      return (kept);
    } else {
      return std::apply(
          [](auto const&... parts) {
            return std::tuple<Parts...>(kept_form<Parts>::show(parts)...);
          },
          kept);
    }
  }
};

template <typename First, typename Second>
struct kept_form<std::pair<First, Second>> {
  using type = std::pair<kept_form_t<First>, kept_form_t<Second>>;
  template <typename Item>
  static type of(Item const& item) {
    return type(kept_form<First>::of(item.first), kept_form<Second>::of(item.second));
  }
  static decltype(auto) show(type const& kept) {
    if constexpr (std::same_as<type, std::pair<First, Second>>) {
      return (kept);
    } else {
      return std::pair<First, Second>(kept_form<First>::show(kept.first),
                                      kept_form<Second>::show(kept.second));
    }
  }
};

/// The copy of one item, or none. Memory of byte strings is used again.
template <typename T>
class item_copy {
 public:
  explicit operator bool() const noexcept { return kept_.has_value(); }
  /// Returns the item: a `T const&`, or a T that refers to the copy. @pre there is one.
  decltype(auto) operator*() const { return kept_form<T>::show(*kept_); }

  template <typename Item>
  void keep(Item&& item) {
    if constexpr (byte_string<T> && std::same_as<kept_form_t<T>, std::string>) {
      if (kept_) return static_cast<void>(kept_->assign(std::string_view(item)));
    }
    kept_.emplace(kept_form<T>::of(std::forward<Item>(item)));
  }
  void forget() noexcept { kept_.reset(); }

 private:
  std::optional<kept_form_t<T>> kept_;
};

/// Contiguous copies of items.
template <typename T>
class item_copies {
  using kept = kept_form_t<T>;
  static constexpr bool is_shown_in_place = std::same_as<kept, T>;
  static_assert(!std::same_as<T, bool>,
                "outsize: items that are kept side by side cannot be bool: transform them to char");

 public:
  std::size_t size() const noexcept { return kept_.size(); }
  /// Valid until items are added or erased.
  std::span<T const> items() const noexcept {
    if constexpr (is_shown_in_place) {
      return kept_;
    } else {
      return shown_;
    }
  }

  template <typename Item>
  void add(Item&& item) {
    [[maybe_unused]] bool const stay = kept_.size() < kept_.capacity();
    kept_.push_back(kept_form<T>::of(std::forward<Item>(item)));
    if constexpr (!is_shown_in_place) {
      if (stay) {
        shown_.push_back(kept_form<T>::show(kept_.back()));
      } else {
        show_all();
      }
    }
  }
  void reserve(std::size_t count) {
    kept_.reserve(count);
    show_all();
  }
  void clear() noexcept {
    kept_.clear();
    shown_.clear();
  }
  void erase_first(std::size_t count) {
    kept_.erase(kept_.begin(), std::next(kept_.begin(), static_cast<std::ptrdiff_t>(count)));
    show_all();
  }

 private:
  /// Makes views anew: the bytes of short strings lie in the vector, and have moved with it.
  void show_all() {
    if constexpr (!is_shown_in_place) {
      shown_.clear();
      for (kept const& one : kept_) shown_.push_back(kept_form<T>::show(one));
    }
  }

  std::vector<kept> kept_;
  std::vector<T> shown_;  // of `kept_`, where they are not the items themselves
};

}  // namespace outsize::stream::detail
