// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a type must be for its values to be kept in blocks and files. Layer: base.
//
// Types that hold addresses are excluded, as these mean nothing where they are read again.
// Aggregates are looked into, field by field: `T{{}, {}, probe}` compiles if the probe, which
// becomes addresses only, can be the third field of T. Other classes cannot be looked into; the
// arguments of templates tell, as in std::optional<char*>.

#include <concepts>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <boost/align/aligned_allocator.hpp>

namespace outsize {
namespace detail {

template <typename T>
consteval bool is_free_of_addresses();

}  // namespace detail

/// Whether the bytes of a trivially copyable type are all of its value. By default of all that is
/// not seen to hold an address: pointers and pointers to members, string_view, span and other
/// borrowed ranges, contiguous iterators, reference_wrapper; arrays and aggregates (of up
/// to 32 fields) with such a part, and class templates of such a type. Private members are not
/// seen. Specialise it for a type of yours that is taken for what it is not:
///
///     template <>
///     inline constexpr bool outsize::enable_external_item<offset_in_file> = true;
template <typename T>
inline constexpr bool enable_external_item = detail::is_free_of_addresses<T>();

namespace detail {

/// Becomes any part of T that is not enabled.
template <typename T>
struct address_probe {
  template <typename U>
    requires(!std::same_as<U, T> && !enable_external_item<U>)
  [[noreturn]] operator U() const {
    std::terminate();  // nobody calls it
  }
};
/// Becomes any part of T, and throws nothing if that is enabled.
template <typename T>
struct part_probe {
  template <typename U>
    requires(!std::same_as<U, T>)
  [[noreturn]] operator U() const noexcept(enable_external_item<U>) {
    std::terminate();
  }
};

/// Whether an aggregate T has field `index`, and whether that, or the first element of it if it is
/// an array, can be an address. The first field of one that is enabled must not be asked instead.
template <std::size_t index>
struct aggregate_field;

// clang-format off
#define OUTSIZE_FIELD(index, ...)                                                                 \
  template <>                                                                                     \
  struct aggregate_field<index> {                                                                 \
    template <typename T>                                                                         \
    static constexpr bool exists = requires { T{__VA_ARGS__ {}}; };                               \
    template <typename T>                                                                         \
    static constexpr bool is_address = requires { T{__VA_ARGS__ address_probe<T>()}; } &&         \
                                       !requires { {T{__VA_ARGS__ part_probe<T>()}} noexcept; };  \
  };
#define OUTSIZE_8 {}, {}, {}, {}, {}, {}, {}, {},
#define OUTSIZE_16 OUTSIZE_8 OUTSIZE_8
#define OUTSIZE_24 OUTSIZE_16 OUTSIZE_8
OUTSIZE_FIELD(0)
OUTSIZE_FIELD(1, {},)
OUTSIZE_FIELD(2, {}, {},)
OUTSIZE_FIELD(3, {}, {}, {},)
OUTSIZE_FIELD(4, {}, {}, {}, {},)
OUTSIZE_FIELD(5, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(6, {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(7, {}, {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(8, OUTSIZE_8)
OUTSIZE_FIELD(9, OUTSIZE_8 {},)
OUTSIZE_FIELD(10, OUTSIZE_8 {}, {},)
OUTSIZE_FIELD(11, OUTSIZE_8 {}, {}, {},)
OUTSIZE_FIELD(12, OUTSIZE_8 {}, {}, {}, {},)
OUTSIZE_FIELD(13, OUTSIZE_8 {}, {}, {}, {}, {},)
OUTSIZE_FIELD(14, OUTSIZE_8 {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(15, OUTSIZE_8 {}, {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(16, OUTSIZE_16)
OUTSIZE_FIELD(17, OUTSIZE_16 {},)
OUTSIZE_FIELD(18, OUTSIZE_16 {}, {},)
OUTSIZE_FIELD(19, OUTSIZE_16 {}, {}, {},)
OUTSIZE_FIELD(20, OUTSIZE_16 {}, {}, {}, {},)
OUTSIZE_FIELD(21, OUTSIZE_16 {}, {}, {}, {}, {},)
OUTSIZE_FIELD(22, OUTSIZE_16 {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(23, OUTSIZE_16 {}, {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(24, OUTSIZE_24)
OUTSIZE_FIELD(25, OUTSIZE_24 {},)
OUTSIZE_FIELD(26, OUTSIZE_24 {}, {},)
OUTSIZE_FIELD(27, OUTSIZE_24 {}, {}, {},)
OUTSIZE_FIELD(28, OUTSIZE_24 {}, {}, {}, {},)
OUTSIZE_FIELD(29, OUTSIZE_24 {}, {}, {}, {}, {},)
OUTSIZE_FIELD(30, OUTSIZE_24 {}, {}, {}, {}, {}, {},)
OUTSIZE_FIELD(31, OUTSIZE_24 {}, {}, {}, {}, {}, {}, {},)
// clang-format on
#undef OUTSIZE_FIELD
#undef OUTSIZE_8
#undef OUTSIZE_16
#undef OUTSIZE_24

inline constexpr std::size_t most_aggregate_fields = 32;

template <typename T, std::size_t index = 0>
consteval bool has_address_field() {
  if constexpr (index == most_aggregate_fields) {
    return false;
  } else if constexpr (!aggregate_field<index>::template exists<T>) {
    return false;
  } else if constexpr (aggregate_field<index>::template is_address<T>) {
    return true;
  } else {
    return has_address_field<T, index + 1>();
  }
}

/// Whether a class template's argument may be what a T of so many bytes holds.
template <typename Part, std::size_t bytes>
consteval bool is_address_part() {
  if constexpr (requires { sizeof(Part); }) {
    if constexpr (sizeof(Part) <= bytes && std::is_trivially_copyable_v<Part>)
      return !enable_external_item<Part>;
  }
  return false;
}
template <typename T>
inline constexpr bool is_template_of_addresses = false;
template <template <typename...> typename Class, typename... Parts>
inline constexpr bool is_template_of_addresses<Class<Parts...>> =
    (is_address_part<Parts, sizeof(Class<Parts...>)>() || ...);

template <typename T>
inline constexpr bool is_address_array = false;
template <typename T, std::size_t count>
inline constexpr bool is_address_array<T[count]> = !enable_external_item<T>;

/// reference_wrapper, and what is used as one.
template <typename T>
concept wraps_reference = requires(T const& wrapper) {
  typename T::type;
  { wrapper.get() } -> std::same_as<typename T::type&>;
  requires std::convertible_to<T const&, typename T::type&>;
};

template <typename T>
inline constexpr bool is_initializer_list = false;
template <typename T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;

template <typename T>
consteval bool is_free_of_addresses() {
  using plain = std::remove_cv_t<T>;
  if constexpr (std::is_arithmetic_v<plain> || std::is_enum_v<plain>) {
    return true;
  } else if constexpr (std::is_scalar_v<plain> || std::is_reference_v<plain>) {
    return false;  // pointers of all kinds
  } else if constexpr (std::is_array_v<plain>) {
    return !is_address_array<plain>;
  } else if constexpr (!std::is_class_v<plain> && !std::is_union_v<plain>) {
    return true;
  } else if constexpr (std::is_empty_v<plain> || !std::is_trivially_copyable_v<plain>) {
    return true;  // others say why the latter is refused
  } else if constexpr (std::ranges::enable_borrowed_range<plain> || is_initializer_list<plain> ||
                       wraps_reference<plain> || std::contiguous_iterator<plain>) {
    return false;
  } else if constexpr (is_template_of_addresses<plain>) {
    return false;
  } else if constexpr (std::is_aggregate_v<plain>) {
    return !has_address_field<plain>();
  } else {
    return true;
  }
}

}  // namespace detail
/// The most that a type may ask of addresses.
inline constexpr std::size_t most_item_alignment_bytes = 64;

/// What can lie on disk as it lies in memory: its bytes are its value. Types that hold addresses
/// are excluded (enable_external_item), since what these point to is not stored with them. Text and
/// other byte strings have record_sorter.
template <typename T>
concept external_item = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                        !std::is_reference_v<T> && !std::is_const_v<T> &&
                        alignof(T) <= most_item_alignment_bytes && enable_external_item<T>;

namespace detail {

/// Stops the compiler with one line that says what is wrong with a type of items.
template <typename T>
consteval bool refuse_item() {
  static_assert(
      std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
          !std::is_reference_v<T> && !std::is_const_v<T>,
      "outsize::external_item: items are kept as bytes, so they must be trivially copyable "
      "and default constructible values");
  if constexpr (std::is_object_v<T>)
    static_assert(alignof(T) <= most_item_alignment_bytes,
                  "outsize::external_item: items must not be aligned to more than 64 bytes");
  static_assert(enable_external_item<T>,
                "outsize::external_item: items are kept as bytes, so they must not hold pointers, "
                "views or iterators; if the bytes of yours are all of its value, specialise "
                "outsize::enable_external_item for it");
  return false;
}

}  // namespace detail

/// The same, for whoever takes a type as an argument and nothing else will do: the compiler says
/// why a type is none.
template <typename T>
concept stored_item = external_item<T> || detail::refuse_item<T>();

/// Memory for items of a type that is not known.
using aligned_bytes =
    std::vector<std::byte,
                boost::alignment::aligned_allocator<std::byte, most_item_alignment_bytes>>;

}  // namespace outsize
