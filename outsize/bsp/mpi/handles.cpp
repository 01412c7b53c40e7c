// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "handles.hpp"

#include <stdlib.h>
#include <string.h>

#include "child.hpp"

namespace outsize::bsp::mpi {

namespace {

using detail::fold_operation;
using detail::number_type;

/// An array that grows, and whose places are used again.
template <typename T>
class table {
 public:
  /// A free place.
  std::size_t add(T const& value) {
    std::size_t place = 0;
    while (place < size_ && items_[place] != nullptr) ++place;
    if (place == size_) grow();
    items_[place] = static_cast<T*>(::malloc(sizeof(T)));
    if (items_[place] == nullptr) refuse("no memory for a handle");
    *items_[place] = value;
    return place;
  }
  T* at(std::size_t place) noexcept { return place < size_ ? items_[place] : nullptr; }
  void remove(std::size_t place) noexcept {
    ::free(items_[place]);
    items_[place] = nullptr;
  }

 private:
  void grow() {
    std::size_t const larger = size_ == 0 ? 16 : 2 * size_;
    void* const moved = ::realloc(items_, larger * sizeof(T*));
    if (moved == nullptr) refuse("no memory for handles");
    items_ = static_cast<T**>(moved);
    for (; size_ < larger; ++size_) items_[size_] = nullptr;
  }

  T** items_ = nullptr;
  std::size_t size_ = 0;
};

// Handles that are not predefined: 0x1000 and more, the kind in the lowest bits.
constexpr std::uintptr_t first_handle = 0x1000;
constexpr std::uintptr_t communicator_kind = 1, request_kind = 2;

template <typename Handle>
Handle handle_of(std::size_t place, std::uintptr_t kind) {
  return reinterpret_cast<Handle>(first_handle + place * 16 + kind);
}
template <typename Handle>
std::size_t place_of(Handle handle, std::uintptr_t kind) {
  auto const number = reinterpret_cast<std::uintptr_t>(handle);
  if (number < first_handle || (number & 15) != kind) return SIZE_MAX;
  return (number - first_handle) / 16;
}

table<communicator> communicators;
table<request> requests;
communicator world, self;

struct known_type {
  MPI_Datatype handle;
  number_type type;
};

template <typename T>
constexpr number_type integer_type() {
  constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
  switch (sizeof(T)) {
    case 1:
      return is_signed ? number_type::int8 : number_type::uint8;
    case 2:
      return is_signed ? number_type::int16 : number_type::uint16;
    case 4:
      return is_signed ? number_type::int32 : number_type::uint32;
    default:
      return is_signed ? number_type::int64 : number_type::uint64;
  }
}

known_type const known_types[] = {
    {MPI_CHAR, number_type::int8},
    {MPI_SIGNED_CHAR, number_type::int8},
    {MPI_UNSIGNED_CHAR, number_type::uint8},
    {MPI_BYTE, number_type::byte},
    {MPI_PACKED, number_type::byte},
    {MPI_SHORT, integer_type<short>()},
    {MPI_UNSIGNED_SHORT, integer_type<unsigned short>()},
    {MPI_INT, integer_type<int>()},
    {MPI_UNSIGNED, integer_type<unsigned>()},
    {MPI_LONG, integer_type<long>()},
    {MPI_UNSIGNED_LONG, integer_type<unsigned long>()},
    {MPI_LONG_LONG, integer_type<long long>()},
    {MPI_UNSIGNED_LONG_LONG, integer_type<unsigned long long>()},
    {MPI_WCHAR, integer_type<wchar_t>()},
    {MPI_INT8_T, number_type::int8},
    {MPI_INT16_T, number_type::int16},
    {MPI_INT32_T, number_type::int32},
    {MPI_INT64_T, number_type::int64},
    {MPI_UINT8_T, number_type::uint8},
    {MPI_UINT16_T, number_type::uint16},
    {MPI_UINT32_T, number_type::uint32},
    {MPI_UINT64_T, number_type::uint64},
    {MPI_AINT, number_type::int64},
    {MPI_OFFSET, number_type::int64},
    {MPI_COUNT, number_type::int64},
    {MPI_FLOAT, number_type::float32},
    {MPI_DOUBLE, number_type::float64},
    {MPI_LONG_DOUBLE, number_type::float_long},
    {MPI_C_BOOL, number_type::boolean},
    {MPI_CXX_BOOL, number_type::boolean},
    {MPI_C_COMPLEX, number_type::complex32},
    {MPI_C_FLOAT_COMPLEX, number_type::complex32},
    {MPI_C_DOUBLE_COMPLEX, number_type::complex64},
    {MPI_C_LONG_DOUBLE_COMPLEX, number_type::complex_long},
    {MPI_CXX_FLOAT_COMPLEX, number_type::complex32},
    {MPI_CXX_DOUBLE_COMPLEX, number_type::complex64},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, number_type::complex_long},
    {MPI_FLOAT_INT, number_type::float_int},
    {MPI_DOUBLE_INT, number_type::double_int},
    {MPI_LONG_INT, number_type::long_int},
    {MPI_2INT, number_type::two_int},
    {MPI_SHORT_INT, number_type::short_int},
    {MPI_LONG_DOUBLE_INT, number_type::long_double_int},
};

struct known_operation {
  MPI_Op handle;
  fold_operation operation;
};

known_operation const known_operations[] = {
    {MPI_SUM, fold_operation::sum},          {MPI_MIN, fold_operation::min},
    {MPI_MAX, fold_operation::max},          {MPI_PROD, fold_operation::product},
    {MPI_BAND, fold_operation::bit_and},     {MPI_BOR, fold_operation::bit_or},
    {MPI_BXOR, fold_operation::bit_xor},     {MPI_LAND, fold_operation::logical_and},
    {MPI_LOR, fold_operation::logical_or},   {MPI_LXOR, fold_operation::logical_xor},
    {MPI_MINLOC, fold_operation::min_place}, {MPI_MAXLOC, fold_operation::max_place},
};

number_type type_of(MPI_Datatype type, char const* call) {
  for (known_type const& known : known_types) {
    if (known.handle == type) return known.type;
  }
  refuse("%s: %p is not a type", call, static_cast<void*>(type));
}

}  // namespace

// ---- communicators ----

void make_first_communicators() {
  world = {.group = 0,
           .rank = static_cast<int>(rank_in_world),
           .size = static_cast<int>(shared->count),
           .next_number = 0};
  // A group of its own: its color tells it from those of other ranks.
  process::parts_of(*shared, rank_in_world)[0] = {
      .member = rank_in_world, .address = 0, .bytes = 0};
  control->part_count = 1;
  std::uint64_t const group = ask(call::new_group, 0, UINT64_MAX, rank_in_world);
  self = {.group = group, .rank = 0, .size = 1, .next_number = 0};
}

communicator& communicator_of(MPI_Comm comm, char const* call) {
  check_started(call);
  if (comm == MPI_COMM_WORLD) return world;
  if (comm == MPI_COMM_SELF) return self;
  communicator* const found = communicators.at(place_of(comm, communicator_kind));
  if (found == nullptr) refuse("%s: %p is not a communicator", call, static_cast<void*>(comm));
  return *found;
}

MPI_Comm add_communicator(std::uint64_t group, int rank, int size) {
  return handle_of<MPI_Comm>(
      communicators.add({.group = group, .rank = rank, .size = size, .next_number = 0}),
      communicator_kind);
}

void remove_communicator(MPI_Comm comm) { communicators.remove(place_of(comm, communicator_kind)); }

int rank_in(communicator const& comm, int rank, char const* call) {
  if (rank < 0 || rank >= comm.size) {
    refuse("%s: rank %d, but the communicator has %d", call, rank, comm.size);
  }
  return rank;
}

// ---- types and operations ----

std::uint64_t size_of(MPI_Datatype type, char const* call) {
  return detail::bytes_of(type_of(type, call));
}

std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type, char const* call) {
  if (count < 0) refuse("%s: a count of %ld", call, static_cast<long>(count));
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), size_of(type, call), &bytes)) {
    refuse("%s: a count of %ld items is too large", call, static_cast<long>(count));
  }
  return bytes;
}

detail::fold_function fold_of(MPI_Op operation, MPI_Datatype type, char const* call) {
  number_type const number = type_of(type, call);
  for (known_operation const& known : known_operations) {
    if (known.handle != operation) continue;
    detail::fold_function const fold = detail::fold_of(known.operation, number);
    if (fold == nullptr) {
      refuse("%s: operation %p is not defined for type %p", call, static_cast<void*>(operation),
             static_cast<void*>(type));
    }
    return fold;
  }
  refuse("%s: %p is not an operation", call, static_cast<void*>(operation));
}

// ---- requests ----

request& request_of(MPI_Request handle, char const* call) {
  request* const found = requests.at(place_of(handle, request_kind));
  if (found == nullptr) refuse("%s: %p is not a request", call, static_cast<void*>(handle));
  return *found;
}

MPI_Request add_request(request const& made) {
  return handle_of<MPI_Request>(requests.add(made), request_kind);
}

void remove_request(MPI_Request handle) { requests.remove(place_of(handle, request_kind)); }

void fill_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  ::memcpy(status->MPI_internal, &bytes, sizeof bytes);
}

std::uint64_t length_in(MPI_Status const& status) noexcept {
  std::uint64_t bytes = 0;
  ::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}

}  // namespace outsize::bsp::mpi
