// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "datatype.hpp"

#include <string.h>

namespace outsize::bsp::mpi {

namespace {

using detail::number_type;

handle_table<datatype, MPI_Datatype, handle_kind::type> types;

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

struct known_type {
  MPI_Datatype handle;
  number_type number;
};

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

// By their handles, which are small and near each other.
constexpr std::uintptr_t first_handle = 0x200, handle_count = 0x60;
datatype predefined[handle_count];

datatype* predefined_of(MPI_Datatype type) {
  std::uintptr_t const place = reinterpret_cast<std::uintptr_t>(type) - first_handle;
  if (place >= handle_count || predefined[place].handle != type) return nullptr;
  return predefined + place;
}

/// Bounds that grow.
class bounds {
 public:
  void add(std::int64_t low, std::int64_t high) {
    if (is_empty_ || low < low_) low_ = low;
    if (is_empty_ || high > high_) high_ = high;
    is_empty_ = false;
  }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

 private:
  bool is_empty_ = true;
  std::int64_t low_ = 0, high_ = 0;
};

/// Adds `count` ranges at distances.
void add_repeated(bounds& to, std::int64_t low, std::int64_t length, std::int64_t at,
                  std::int64_t count, std::int64_t distance, char const* call) {
  std::int64_t const first = sum(low, at, call);
  std::int64_t const last = sum(first, product(count - 1, distance, call), call);
  std::int64_t const least = first < last ? first : last;
  std::int64_t const most = first < last ? last : first;
  to.add(least, sum(most, length, call));
}

bool is_nothing(datatype::block const& one) {
  return one.length == 0 || (one.type->size == 0 && !one.type->has_own_bounds);
}

/// Sets the bounds of blocks, of their data too, and the bytes of data. If some blocks have bounds
/// of their own, only these count.
void measure(datatype& type, char const* call) {
  bounds all, data;
  for (std::size_t i = 0; i < type.block_count; ++i) {
    if (type.blocks[i].type->has_own_bounds) type.has_own_bounds = true;
  }
  for (std::size_t i = 0; i < type.block_count; ++i) {
    datatype::block const& one = type.blocks[i];
    datatype const& inner = *one.type;
    if (inner.has_own_bounds == type.has_own_bounds) {
      add_repeated(all, inner.lb, inner.extent, one.displacement, one.length, inner.extent, call);
    }
    type.size = sum(type.size, product(one.length, inner.size, call), call);
    if (inner.alignment > type.alignment) type.alignment = inner.alignment;
    if (inner.size == 0) continue;
    add_repeated(data, inner.true_lb, inner.true_extent, one.displacement, one.length, inner.extent,
                 call);
  }
  bounds repeated, repeated_data;
  add_repeated(repeated, all.low(), all.high() - all.low(), 0, type.repeats, type.stride, call);
  add_repeated(repeated_data, data.low(), data.high() - data.low(), 0, type.repeats, type.stride,
               call);
  type.lb = repeated.low();
  type.extent = repeated.high() - repeated.low();
  if (type.size != 0) {
    type.true_lb = repeated_data.low();
    type.true_extent = repeated_data.high() - repeated_data.low();
  }
}

/// Returns true if the data of all blocks, one after the other, are one run of bytes.
bool forms_run(datatype const& type, std::int64_t bytes_of_blocks) {
  bool is_first = true;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < type.block_count; ++i) {
    datatype::block const& one = type.blocks[i];
    datatype const& inner = *one.type;
    if (inner.size == 0) continue;
    if (!inner.is_dense && !(one.length == 1 && inner.is_run)) return false;
    std::int64_t const begin = one.displacement + inner.true_lb;
    if (!is_first && begin != end) return false;
    end = begin + one.length * inner.size;
    is_first = false;
  }
  return type.repeats == 1 || type.stride == bytes_of_blocks;
}

void note_density(datatype& type) {
  type.is_dense = type.size == 0 || (type.is_run && type.extent == type.size);
}

void set_number(datatype& type, number_type number) {
  type.number = number;
  type.has_number = true;
  type.is_committed = true;
  type.alignment = detail::alignment_of(number);
}

/// A number that has no gaps.
void set_plain(datatype& type, number_type number) {
  type.size = type.extent = type.true_extent = detail::bytes_of(number);
  type.is_run = type.is_dense = true;
  set_number(type, number);
}

/// A pair with a gap behind the value, or behind the index; its blocks stay for good.
void set_pair(datatype& type, MPI_Datatype value, number_type number) {
  datatype::block const blocks[] = {
      {0, 1, predefined_of(value)},
      {predefined_of(value)->size < 4 ? 4 : predefined_of(value)->size, 1, predefined_of(MPI_INT)}};
  datatype& made = make_type(1, 0, blocks, 2, "MPI_Init");
  MPI_Datatype const handle = type.handle;
  type = made;
  type.handle = handle;
  set_number(type, number);
  round_extent(type);
  ::free(&made);
}

}  // namespace

std::int64_t product(std::int64_t a, std::int64_t b, char const* call) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    refuse("%s: %ld items of %ld bytes are too large", call, a, b);
  }
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b, char const* call) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) refuse("%s: the items are too large", call);
  return result;
}

// ---- types ----

void destroy(datatype& type) {
  for (std::size_t i = 0; i < type.block_count; ++i) release(*type.blocks[i].type);
  ::free(type.blocks);
  ::free(&type);
}

datatype& make_type(std::int64_t repeats, std::int64_t stride, datatype::block const* blocks,
                    std::size_t block_count, char const* call) {
  datatype& made = make<datatype>();
  std::size_t used = 0;
  for (std::size_t i = 0; i < block_count; ++i) used += is_nothing(blocks[i]) ? 0 : 1;
  if (repeats == 0 || used == 0) {
    made.is_dense = made.is_run = true;
    return made;
  }
  made.blocks = static_cast<datatype::block*>(::malloc(used * sizeof(datatype::block)));
  if (made.blocks == nullptr) refuse("%s: no memory for a type", call);
  for (std::size_t i = 0; i < block_count; ++i) {
    if (is_nothing(blocks[i])) continue;
    made.blocks[made.block_count++] = blocks[i];
    ++blocks[i].type->references;
  }
  made.repeats = repeats;
  made.stride = stride;
  measure(made, call);
  made.is_run = forms_run(made, made.size);
  made.size = product(made.size, repeats, call);
  note_density(made);
  return made;
}

void set_bounds(datatype& type, std::int64_t lb, std::int64_t extent) {
  type.lb = lb;
  type.extent = extent;
  type.has_own_bounds = true;
  note_density(type);
}

void round_extent(datatype& type) {
  if (type.has_own_bounds) return;
  std::int64_t const over = type.extent % type.alignment;
  if (over != 0) type.extent += type.alignment - over;
  note_density(type);
}

void make_predefined_types() {
  for (known_type const& known : known_types) {
    datatype& type = predefined[reinterpret_cast<std::uintptr_t>(known.handle) - first_handle];
    type.handle = known.handle;
    set_plain(type, known.number);
  }
  set_pair(*predefined_of(MPI_SHORT_INT), MPI_SHORT, number_type::short_int);
  set_pair(*predefined_of(MPI_DOUBLE_INT), MPI_DOUBLE, number_type::double_int);
  set_pair(*predefined_of(MPI_LONG_INT), MPI_LONG, number_type::long_int);
  set_pair(*predefined_of(MPI_LONG_DOUBLE_INT), MPI_LONG_DOUBLE, number_type::long_double_int);
}

MPI_Datatype add_type(datatype& made) { return made.handle = types.add(made); }

void remove_type(datatype& type) {
  types.remove(type.handle);
  type.handle = MPI_DATATYPE_NULL;
  release(type);
}

bool is_predefined(datatype const& type) { return predefined_of(type.handle) == &type; }

datatype& type_of(MPI_Datatype type, char const* call) {
  check_started(call);
  if (datatype* const known = predefined_of(type)) return *known;
  datatype* const found = types.find(type);
  if (found == nullptr) refuse("%s: %p is not a type", call, static_cast<void*>(type));
  return *found;
}

datatype& committed_type(MPI_Datatype type, char const* call) {
  datatype& found = type_of(type, call);
  if (!found.is_committed) {
    refuse("%s: type %p is not committed (MPI_Type_commit)", call, static_cast<void*>(type));
  }
  return found;
}

// ---- items ----

namespace {

constexpr std::uintptr_t first_page_end = 4096;

void refuse_buffer(void const* buffer, char const* call) {
  if (buffer == MPI_IN_PLACE) refuse("%s: MPI_IN_PLACE is not possible here", call);
  refuse("%s: %p is not a buffer", call, buffer);
}

/// Calls `visit` with the address and the length of each run of bytes, until it returns false.
template <typename Visit>
bool for_runs(datatype const& type, std::intptr_t at, std::int64_t count, Visit const& visit) {
  if (type.size == 0 || count == 0) return true;
  if (type.is_dense) return visit(at + type.true_lb, static_cast<std::size_t>(count * type.size));
  for (std::int64_t i = 0; i < count; ++i, at += type.extent) {
    if (type.is_run) {
      if (!visit(at + type.true_lb, static_cast<std::size_t>(type.size))) return false;
      continue;
    }
    std::intptr_t place = at;
    for (std::int64_t r = 0; r < type.repeats; ++r, place += type.stride) {
      for (std::size_t b = 0; b < type.block_count; ++b) {
        datatype::block const& one = type.blocks[b];
        if (!for_runs(*one.type, place + one.displacement, one.length, visit)) return false;
      }
    }
  }
  return true;
}

}  // namespace

items items_of(void const* buffer, std::int64_t count, MPI_Datatype type, char const* call,
               int member) {
  if (count < 0 && member >= 0) refuse("%s: a count of %ld for rank %d", call, count, member);
  if (count < 0) refuse("%s: a count of %ld", call, count);
  datatype const& of = committed_type(type, call);
  product(count, of.size, call);
  std::int64_t const way = product(count, of.extent, call);
  if (count != 0 && of.size != 0) {
    std::uintptr_t const lowest = reinterpret_cast<std::uintptr_t>(buffer) +
                                  static_cast<std::uintptr_t>(of.true_lb) +
                                  static_cast<std::uintptr_t>(way < 0 ? way - of.extent : 0);
    if (lowest < first_page_end) refuse_buffer(buffer, call);
  }
  return {.buffer = const_cast<void*>(buffer), .count = count, .type = &of};
}

void pack(items const& from, std::byte* into) {
  for_runs(*from.type, reinterpret_cast<std::intptr_t>(from.buffer), from.count,
           [&](std::intptr_t address, std::size_t bytes) {
             ::memcpy(into, reinterpret_cast<void const*>(address), bytes);
             into += bytes;
             return true;
           });
}

void unpack(std::byte const* from, std::uint64_t bytes, items const& into) {
  if (bytes == 0) return;
  for_runs(*into.type, reinterpret_cast<std::intptr_t>(into.buffer), into.count,
           [&](std::intptr_t address, std::size_t run) {
             std::size_t const here = run < bytes ? run : bytes;
             ::memcpy(reinterpret_cast<void*>(address), from, here);
             from += here;
             bytes -= here;
             return bytes != 0;
           });
}

void copy(items const& from, void* into) {
  auto const source = reinterpret_cast<std::intptr_t>(from.buffer);
  auto const target = reinterpret_cast<std::intptr_t>(into);
  for_runs(*from.type, 0, from.count, [&](std::intptr_t offset, std::size_t bytes) {
    ::memcpy(reinterpret_cast<void*>(target + offset),
             reinterpret_cast<void const*>(source + offset), bytes);
    return true;
  });
}

}  // namespace outsize::bsp::mpi
