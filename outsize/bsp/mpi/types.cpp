// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Types that the program makes, and packing.

#include "both_forms.hpp"
#include "child.hpp"
#include "datatype.hpp"

namespace outsize::bsp::mpi {

namespace {

void check_not_negative(std::int64_t count, char const* what, char const* call) {
  if (count < 0) refuse("%s: a %s of %ld", call, what, count);
}

/// Blocks of `length` items, at distances in bytes.
MPI_Datatype make_vector(std::int64_t count, std::int64_t length, std::int64_t stride,
                         MPI_Datatype old, char const* call) {
  datatype& inner = type_of(old, call);
  check_not_negative(count, "count", call);
  check_not_negative(length, "length of blocks", call);
  datatype::block const block = {0, length, &inner};
  return add_type(make_type(count, stride, &block, 1, call));
}

/// @param unit  Bytes of a displacement; 0: the extent of the block's type.
template <typename Length, typename Place>
MPI_Datatype make_blocks(std::int64_t count, Length const* lengths, Place const* places,
                         MPI_Datatype const* types, bool is_one_type, std::int64_t unit,
                         bool is_rounded, char const* call) {
  check_started(call);
  check_not_negative(count, "count", call);
  std::int64_t const bytes = product(count, sizeof(datatype::block), call);
  temporary const memory(static_cast<std::uint64_t>(bytes), call);
  auto* const blocks = reinterpret_cast<datatype::block*>(memory.data());
  for (std::int64_t i = 0; i < count; ++i) {
    datatype& inner = type_of(is_one_type ? types[0] : types[i], call);
    check_not_negative(lengths[i], "length of a block", call);
    std::int64_t const step = unit == 0 ? inner.extent : unit;
    std::int64_t const place = lengths[i] == 0 ? 0 : product(places[i], step, call);
    blocks[i] = {place, lengths[i], &inner};
  }
  datatype& made = make_type(1, 0, blocks, static_cast<std::size_t>(count), call);
  if (is_rounded) round_extent(made);
  return add_type(made);
}

MPI_Datatype make_resized(MPI_Datatype old, std::int64_t lb, std::int64_t extent,
                          char const* call) {
  datatype::block const block = {0, 1, &type_of(old, call)};
  datatype& made = make_type(1, 0, &block, 1, call);
  set_bounds(made, lb, extent);
  return add_type(made);
}

/// A box within an array.
template <typename Count>
MPI_Datatype make_subarray(int dimensions, Count const* sizes, Count const* parts,
                           Count const* starts, int order, MPI_Datatype old, char const* call) {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    refuse("%s: %d is not an order of dimensions", call, order);
  }
  if (dimensions < 1) refuse("%s: %d dimensions", call, dimensions);
  kept<datatype> made(type_of(old, call));
  std::int64_t step = made->extent;
  for (int i = 0; i < dimensions; ++i) {  // from the dimension whose items are neighbours
    int const d = order == MPI_ORDER_C ? dimensions - 1 - i : i;
    if (parts[d] < 1 || starts[d] < 0 || starts[d] > sizes[d] - parts[d]) {
      refuse("%s: dimension %d: %ld from %ld on, of %ld", call, d, static_cast<long>(parts[d]),
             static_cast<long>(starts[d]), static_cast<long>(sizes[d]));
    }
    datatype::block const block = {product(starts[d], step, call), i == 0 ? parts[d] : 1, &*made};
    made = kept<datatype>::take(make_type(i == 0 ? 1 : parts[d], step, &block, 1, call));
    step = product(step, sizes[d], call);
  }
  set_bounds(*made, 0, step);
  ++made->references;
  return add_type(*made);
}

// ---- packing ----

void pack_items(items const& from, void* into, std::int64_t room, std::int64_t& position,
                char const* call) {
  auto const bytes = static_cast<std::int64_t>(from.bytes());
  if (position < 0 || bytes > room - position) {
    refuse("%s: %ld bytes at %ld of %ld are too many", call, bytes, position, room);
  }
  if (bytes != 0) pack(from, static_cast<std::byte*>(into) + position);
  position += bytes;
}

void unpack_items(void const* from, std::int64_t length, std::int64_t& position, items const& into,
                  char const* call) {
  auto const bytes = static_cast<std::int64_t>(into.bytes());
  if (position < 0 || bytes > length - position) {
    refuse("%s: %ld bytes at %ld of %ld are too many", call, bytes, position, length);
  }
  if (bytes != 0) unpack(static_cast<std::byte const*>(from) + position, into.bytes(), into);
  position += bytes;
}

/// Calls `use` with a position of 64 bits.
template <typename Position, typename Use>
void with_position(Position* position, Use const& use) {
  std::int64_t place = *position;
  use(place);
  *position = static_cast<Position>(place);
}

/// A number of bytes as an argument of the small or the large form.
template <typename Number>
Number shown(std::int64_t bytes) {
  bool const fits = bytes == static_cast<std::int64_t>(static_cast<Number>(bytes));
  return fits ? static_cast<Number>(bytes) : static_cast<Number>(MPI_UNDEFINED);
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

#define PARAMETERS(COUNT, PLACE, BYTES) (COUNT count, MPI_Datatype oldtype, MPI_Datatype * newtype)
OUTSIZE_MPI_BOTH(Type_contiguous, PARAMETERS, check_not_negative(count, "count", call);
                 *newtype = make_vector(1, count, 0, oldtype, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES) \
  (COUNT count, COUNT blocklength, COUNT stride, MPI_Datatype oldtype, MPI_Datatype * newtype)
OUTSIZE_MPI_BOTH(Type_vector, PARAMETERS,
                 *newtype = make_vector(count, blocklength,
                                        product(stride, type_of(oldtype, call).extent, call),
                                        oldtype, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES) \
  (COUNT count, COUNT blocklength, BYTES stride, MPI_Datatype oldtype, MPI_Datatype * newtype)
OUTSIZE_MPI_BOTH(Type_create_hvector, PARAMETERS,
                 *newtype = make_vector(count, blocklength, stride, oldtype, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                                    \
  (COUNT count, COUNT const array_of_blocklengths[], COUNT const array_of_displacements[], \
   MPI_Datatype oldtype, MPI_Datatype* newtype)
OUTSIZE_MPI_BOTH(Type_indexed, PARAMETERS,
                 *newtype = make_blocks(count, array_of_blocklengths, array_of_displacements,
                                        &oldtype, true, 0, false, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                                    \
  (COUNT count, COUNT const array_of_blocklengths[], BYTES const array_of_displacements[], \
   MPI_Datatype oldtype, MPI_Datatype* newtype)
OUTSIZE_MPI_BOTH(Type_create_hindexed, PARAMETERS,
                 *newtype = make_blocks(count, array_of_blocklengths, array_of_displacements,
                                        &oldtype, true, 1, false, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                                    \
  (COUNT count, COUNT const array_of_blocklengths[], BYTES const array_of_displacements[], \
   MPI_Datatype const array_of_types[], MPI_Datatype* newtype)
OUTSIZE_MPI_BOTH(Type_create_struct, PARAMETERS,
                 *newtype = make_blocks(count, array_of_blocklengths, array_of_displacements,
                                        array_of_types, false, 1, true, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES) \
  (MPI_Datatype oldtype, BYTES lb, BYTES extent, MPI_Datatype * newtype)
OUTSIZE_MPI_BOTH(Type_create_resized, PARAMETERS,
                 *newtype = make_resized(oldtype, lb, extent, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                      \
  (int ndims, COUNT const array_of_sizes[], COUNT const array_of_subsizes[], \
   COUNT const array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype)
OUTSIZE_MPI_BOTH(Type_create_subarray, PARAMETERS,
                 *newtype = make_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts,
                                          order, oldtype, call))
#undef PARAMETERS

int PMPI_Type_commit(MPI_Datatype* datatype) {
  type_of(*datatype, "MPI_Type_commit").is_committed = true;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Type_commit)

int PMPI_Type_free(MPI_Datatype* datatype) {
  auto& type = type_of(*datatype, "MPI_Type_free");
  if (is_predefined(type)) refuse("MPI_Type_free: a predefined type");
  remove_type(type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Type_free)

#define PARAMETERS(COUNT, PLACE, BYTES) (MPI_Datatype datatype, COUNT size[])
OUTSIZE_MPI_BOTH(Type_size, PARAMETERS,
                 *size = shown<std::remove_pointer_t<decltype(size)>>(type_of(datatype, call).size))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES) (MPI_Datatype datatype, BYTES lb[], BYTES extent[])
OUTSIZE_MPI_BOTH(Type_get_extent, PARAMETERS, *lb = type_of(datatype, call).lb;
                 *extent = type_of(datatype, call).extent)
#undef PARAMETERS

int PMPI_Get_address(void const* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Get_address)

// ---- packing ----

#define PARAMETERS(COUNT, PLACE, BYTES)                                                  \
  (void const* inbuf, COUNT incount, MPI_Datatype datatype, void* outbuf, COUNT outsize, \
   COUNT position[], MPI_Comm comm)
OUTSIZE_MPI_BOTH(Pack, PARAMETERS, communicator_of(comm, call);
                 with_position(position, [&](std::int64_t& place) {
                   pack_items(items_of(inbuf, incount, datatype, call), outbuf, outsize, place,
                              call);
                 }))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                             \
  (void const* inbuf, COUNT insize, COUNT position[], void* outbuf, COUNT outcount, \
   MPI_Datatype datatype, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Unpack, PARAMETERS, communicator_of(comm, call);
                 with_position(position, [&](std::int64_t& place) {
                   unpack_items(inbuf, insize, place, items_of(outbuf, outcount, datatype, call),
                                call);
                 }))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES) \
  (COUNT incount, MPI_Datatype datatype, MPI_Comm comm, COUNT size[])
OUTSIZE_MPI_BOTH(Pack_size, PARAMETERS, communicator_of(comm, call);
                 check_not_negative(incount, "count", call);
                 *size = shown<std::remove_pointer_t<decltype(size)>>(
                     product(incount, type_of(datatype, call).size, call)))
#undef PARAMETERS

}  // extern "C"
