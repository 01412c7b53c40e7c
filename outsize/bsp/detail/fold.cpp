// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/fold.hpp>

#include <concepts>
#include <type_traits>

namespace outsize::bsp::detail {

namespace {

/// As C lays out a complex number.
template <typename T>
struct complex_number {
  T real, imaginary;
};

/// As MPI's types of a value and an index are laid out: as a C struct.
template <typename T>
struct value_and_index {
  T value;
  int index;
};

template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<complex_number<T>> = true;
template <typename T>
inline constexpr bool is_placed = false;
template <typename T>
inline constexpr bool is_placed<value_and_index<T>> = true;

template <typename T, typename Operation>
void fold(void* into, void const* from, std::uint64_t count) noexcept {
  auto* const a = static_cast<T*>(into);
  auto const* const b = static_cast<T const*>(from);
  for (std::uint64_t i = 0; i < count; ++i) a[i] = Operation()(a[i], b[i]);
}

// Numbers shorter than int are computed as int and cut, as C does.
struct add {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_complex<T>) {
      return {a.real + b.real, a.imaginary + b.imaginary};
    } else if constexpr (std::signed_integral<T>) {  // may overflow: as unsigned it wraps round
      using bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b)));
    } else {
      return static_cast<T>(a + b);
    }
  }
};
struct multiply {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_complex<T>) {
      return {a.real * b.real - a.imaginary * b.imaginary,
              a.real * b.imaginary + a.imaginary * b.real};
    } else if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};
struct greatest {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct least {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct both {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a != 0 && b != 0);
  }
};
struct either {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a != 0 || b != 0);
  }
};
struct one_of_both {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>((a != 0) != (b != 0));
  }
};
struct shared_bits {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct all_bits {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct differing_bits {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct greatest_place {
  template <typename T>
  T operator()(T a, T b) const {
    if (a.value < b.value) return b;
    if (b.value < a.value) return a;
    return a.index < b.index ? a : b;
  }
};
struct least_place {
  template <typename T>
  T operator()(T a, T b) const {
    if (b.value < a.value) return b;
    if (a.value < b.value) return a;
    return a.index < b.index ? a : b;
  }
};

template <typename T>
fold_function fold_of_bits(fold_operation operation) noexcept {
  switch (operation) {
    case fold_operation::bit_and:
      return fold<T, shared_bits>;
    case fold_operation::bit_or:
      return fold<T, all_bits>;
    case fold_operation::bit_xor:
      return fold<T, differing_bits>;
    default:
      return nullptr;
  }
}

template <typename T>
fold_function fold_of_logic(fold_operation operation) noexcept {
  switch (operation) {
    case fold_operation::logical_and:
      return fold<T, both>;
    case fold_operation::logical_or:
      return fold<T, either>;
    case fold_operation::logical_xor:
      return fold<T, one_of_both>;
    default:
      return nullptr;
  }
}

template <typename T>
fold_function fold_of_sums(fold_operation operation) noexcept {
  switch (operation) {
    case fold_operation::sum:
      return fold<T, add>;
    case fold_operation::product:
      return fold<T, multiply>;
    default:
      return nullptr;
  }
}

template <typename T>
fold_function fold_of_reals(fold_operation operation) noexcept {
  switch (operation) {
    case fold_operation::max:
      return fold<T, greatest>;
    case fold_operation::min:
      return fold<T, least>;
    default:
      return fold_of_sums<T>(operation);
  }
}

template <typename T>
fold_function fold_of_integers(fold_operation operation) noexcept {
  if (fold_function const found = fold_of_reals<T>(operation)) return found;
  if (fold_function const found = fold_of_logic<T>(operation)) return found;
  return fold_of_bits<T>(operation);
}

template <typename T>
fold_function fold_of_places(fold_operation operation) noexcept {
  switch (operation) {
    case fold_operation::max_place:
      return fold<T, greatest_place>;
    case fold_operation::min_place:
      return fold<T, least_place>;
    default:
      return nullptr;
  }
}

/// Calls `use` with the C type of a number_type.
template <typename Use>
auto with_type(number_type type, Use const& use) noexcept {
  switch (type) {
    case number_type::int8:
      return use(std::type_identity<std::int8_t>());
    case number_type::int16:
      return use(std::type_identity<std::int16_t>());
    case number_type::int32:
      return use(std::type_identity<std::int32_t>());
    case number_type::int64:
      return use(std::type_identity<std::int64_t>());
    case number_type::uint8:
      return use(std::type_identity<std::uint8_t>());
    case number_type::uint16:
      return use(std::type_identity<std::uint16_t>());
    case number_type::uint32:
      return use(std::type_identity<std::uint32_t>());
    case number_type::uint64:
      return use(std::type_identity<std::uint64_t>());
    case number_type::float32:
      return use(std::type_identity<float>());
    case number_type::float64:
      return use(std::type_identity<double>());
    case number_type::float_long:
      return use(std::type_identity<long double>());
    case number_type::boolean:
      return use(std::type_identity<bool>());
    case number_type::complex32:
      return use(std::type_identity<complex_number<float>>());
    case number_type::complex64:
      return use(std::type_identity<complex_number<double>>());
    case number_type::complex_long:
      return use(std::type_identity<complex_number<long double>>());
    case number_type::float_int:
      return use(std::type_identity<value_and_index<float>>());
    case number_type::double_int:
      return use(std::type_identity<value_and_index<double>>());
    case number_type::long_int:
      return use(std::type_identity<value_and_index<long>>());
    case number_type::two_int:
      return use(std::type_identity<value_and_index<int>>());
    case number_type::short_int:
      return use(std::type_identity<value_and_index<short>>());
    case number_type::long_double_int:
      return use(std::type_identity<value_and_index<long double>>());
    case number_type::byte:
      break;
  }
  return use(std::type_identity<unsigned char>());
}

}  // namespace

fold_function fold_of(fold_operation operation, number_type type) noexcept {
  if (type == number_type::byte) return fold_of_bits<unsigned char>(operation);
  return with_type(type, [operation]<typename T>(std::type_identity<T>) -> fold_function {
    if constexpr (is_placed<T>) {
      return fold_of_places<T>(operation);
    } else if constexpr (is_complex<T>) {
      return fold_of_sums<T>(operation);
    } else if constexpr (std::same_as<T, bool>) {
      return fold_of_logic<T>(operation);
    } else if constexpr (std::floating_point<T>) {
      return fold_of_reals<T>(operation);
    } else {
      return fold_of_integers<T>(operation);
    }
  });
}

std::uint32_t bytes_of(number_type type) noexcept {
  return with_type(type, []<typename T>(std::type_identity<T>) {
    return static_cast<std::uint32_t>(sizeof(T));
  });
}

std::uint32_t alignment_of(number_type type) noexcept {
  return with_type(type, []<typename T>(std::type_identity<T>) {
    return static_cast<std::uint32_t>(alignof(T));
  });
}

}  // namespace outsize::bsp::detail
