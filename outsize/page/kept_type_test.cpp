// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What a kept file says of types: what it must say for ever, as files that are there say it.

#include <outsize/page/kept_type.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace outsize {
namespace {

struct entry_of_account {
  double value;
};
struct order_by_name;
enum class colour : std::int16_t {};

}  // namespace

template <>
inline constexpr std::string_view kept_name<order_by_name> = "by name";

namespace detail {
namespace {

template <typename T>
constexpr std::string_view item_name = kept_item<T>("items").name;
template <typename F>
constexpr std::string_view function_name = kept_function<F, int>("the order").name;

TEST(types_of_items, have_the_names_of_numbers) {
  static_assert(item_name<std::uint64_t> == "u64" && item_name<std::int64_t> == "i64");
  static_assert(item_name<unsigned long> == item_name<unsigned long long>);
  static_assert(item_name<std::uint8_t> == "u8" && item_name<std::int8_t> == "i8");
  static_assert(item_name<std::byte> == "u8" && item_name<char> == "char");
  static_assert(item_name<std::uint16_t> == "u16" && item_name<char32_t> == "u32");
  static_assert(item_name<float> == "f32" && item_name<double> == "f64");
  static_assert(item_name<bool> == "bool" && item_name<colour> == "i16");
}

TEST(types_of_items, are_classes_otherwise) {
  constexpr auto part = kept_item<entry_of_account>("items");
  static_assert(part.name == "class" && part.is_class && part.alignment_bytes == alignof(double));
  static_assert(item_name<std::array<int, 3>> == "class" && !kept_item<int>("keys").is_class);
}

TEST(types_of_functions, have_the_names_of_the_standard_library) {
  static_assert(function_name<std::less<>> == "less" && function_name<std::less<int>> == "less");
  static_assert(function_name<std::ranges::less> == "less");
  static_assert(function_name<std::greater<>> == "greater");
  static_assert(function_name<std::less<long>>.empty(), "which compares something else");
  static_assert(function_name<std::hash<int>> == "hash");
  static_assert(function_name<std::equal_to<>> == "equal_to");
  static_assert(function_name<entry_of_account>.empty());
  static_assert(function_name<order_by_name> == "by name");
}

}  // namespace
}  // namespace detail
}  // namespace outsize
