// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Random derived types, by MPI and by the model beside it.

#include "derived_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace random_program {
namespace {

constexpr std::byte guard{0xa5};

using offsets = std::vector<std::ptrdiff_t>;

// A type while it is made; owns its handle unless it is the basic one.
struct draft {
  MPI_Datatype handle;
  offsets items;
  std::ptrdiff_t extent;
  bool is_basic = false;
};

void release(draft& inner) {
  if (!inner.is_basic) MPI_Type_free(&inner.handle);
}

void append(draft& to, draft const& inner, std::ptrdiff_t at) {
  for (std::ptrdiff_t offset : inner.items) to.items.push_back(at + offset);
}

// Sets bounds that do not depend on where the items lie.
draft with_extent(draft made, std::ptrdiff_t extent) {
  MPI_Datatype resized;
  MPI_Type_create_resized(made.handle, 0, extent, &resized);
  MPI_Type_free(&made.handle);
  return {resized, std::move(made.items), extent};
}

draft contiguous(draft const& inner, random_numbers& random) {
  int count = 1 + random.below(4);
  draft made{MPI_DATATYPE_NULL, {}, count * inner.extent};
  MPI_Type_contiguous(count, inner.handle, &made.handle);
  for (int i = 0; i < count; ++i) append(made, inner, i * inner.extent);
  return made;
}

// Blocks at equal distances, counted in items or in bytes.
draft vector(draft const& inner, random_numbers& random, std::ptrdiff_t unit) {
  int count = 1 + random.below(3), length = 1 + random.below(2);
  bool in_bytes = random.one_in(2);
  int more = random.below(3);
  std::ptrdiff_t stride =
      in_bytes ? length * inner.extent + more * unit : (length + more) * inner.extent;
  draft made{MPI_DATATYPE_NULL, {}, (count - 1) * stride + length * inner.extent};
  if (in_bytes) {
    MPI_Type_create_hvector(count, length, stride, inner.handle, &made.handle);
  } else {
    MPI_Type_vector(count, length, length + more, inner.handle, &made.handle);
  }
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < length; ++j) append(made, inner, i * stride + j * inner.extent);
  return made;
}

// Blocks of different lengths in random order; the first one is not empty.
draft indexed(draft const& inner, random_numbers& random, std::ptrdiff_t unit) {
  std::vector<int> counts{1 + random.below(2), random.below(3), random.below(3)};
  layout blocks(counts, random);
  std::ptrdiff_t shift = random.one_in(2) ? random.below(3) * unit : 0;
  draft made{MPI_DATATYPE_NULL, {}, 0};
  if (shift > 0) {
    std::array<MPI_Aint, 3> places;
    for (std::size_t i = 0; i < 3; ++i) places[i] = shift + blocks.places[i] * inner.extent;
    MPI_Type_create_hindexed(3, counts.data(), places.data(), inner.handle, &made.handle);
  } else {
    MPI_Type_indexed(3, counts.data(), blocks.places.data(), inner.handle, &made.handle);
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (int j = 0; j < counts[i]; ++j)
      append(made, inner, shift + (blocks.places[i] + j) * inner.extent);
  return with_extent(std::move(made), shift + blocks.items * inner.extent);
}

// A rectangle of a matrix, in the order of C or Fortran.
draft subarray(draft const& inner, random_numbers& random) {
  int sizes[2], parts[2], starts[2];
  for (int d = 0; d < 2; ++d) {
    sizes[d] = 1 + random.below(4);
    parts[d] = 1 + random.below(sizes[d]);
    starts[d] = random.below(sizes[d] - parts[d] + 1);
  }
  bool is_c = random.one_in(2);
  draft made{MPI_DATATYPE_NULL, {}, sizes[0] * sizes[1] * inner.extent};
  MPI_Type_create_subarray(2, sizes, parts, starts, is_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                           inner.handle, &made.handle);
  int slow = is_c ? 0 : 1, fast = 1 - slow;
  for (int i = 0; i < parts[slow]; ++i)
    for (int j = 0; j < parts[fast]; ++j)
      append(made, inner, ((starts[slow] + i) * sizes[fast] + starts[fast] + j) * inner.extent);
  return made;
}

draft draw_draft(item_type const& base, random_numbers& random, int depth);

// Two types side by side, the second one first in the type map now and then.
draft structure(draft const& inner, item_type const& base, random_numbers& random, int depth) {
  draft other = draw_draft(base, random, depth - 1);
  auto unit = static_cast<std::ptrdiff_t>(base.bytes);
  int lengths[2] = {1 + random.below(2), 1 + random.below(2)};
  std::ptrdiff_t between = random.below(3) * unit;
  bool swapped = random.one_in(2);
  std::ptrdiff_t extents[2] = {lengths[0] * inner.extent, lengths[1] * other.extent};
  MPI_Aint places[2] = {swapped ? extents[1] + between : 0, swapped ? 0 : extents[0] + between};
  MPI_Datatype types[2] = {inner.handle, other.handle};
  draft made{MPI_DATATYPE_NULL, {}, 0};
  MPI_Type_create_struct(2, lengths, places, types, &made.handle);
  for (int i = 0; i < lengths[0]; ++i) append(made, inner, places[0] + i * inner.extent);
  for (int i = 0; i < lengths[1]; ++i) append(made, other, places[1] + i * other.extent);
  release(other);
  return with_extent(std::move(made), extents[0] + extents[1] + between);
}

draft draw_draft(item_type const& base, random_numbers& random, int depth) {
  auto unit = static_cast<std::ptrdiff_t>(base.bytes);
  if (depth == 0) return {base.handle, {0}, unit, true};
  draft inner = draw_draft(base, random, depth - 1);
  draft made;
  switch (random.below(5)) {
    case 0:
      made = contiguous(inner, random);
      break;
    case 1:
      made = vector(inner, random, unit);
      break;
    case 2:
      made = indexed(inner, random, unit);
      break;
    case 3:
      made = subarray(inner, random);
      break;
    default:
      made = structure(inner, base, random, depth);
  }
  release(inner);
  if (!random.one_in(3)) return made;
  std::ptrdiff_t extent = made.extent + random.below(3) * unit;
  return with_extent(std::move(made), extent);
}

}  // namespace

derived_type::derived_type(item_type const& base, random_numbers& random) : base_(&base) {
  draft made = draw_draft(base, random, 1 + random.below(3));
  handle_ = made.handle;
  offsets_ = std::move(made.items);
  extent_ = made.extent;
  MPI_Type_commit(&handle_);
  int size = 0;
  MPI_Aint lower = -1, extent = -1;
  MPI_Type_size(handle_, &size);
  MPI_Type_get_extent(handle_, &lower, &extent);
  check(size == items() * static_cast<int>(base.bytes), "a type has the size of its items");
  check(lower == 0 && extent == extent_, "a type has its extent");
}

derived_type::~derived_type() {
  MPI_Type_free(&handle_);
  check(handle_ == MPI_DATATYPE_NULL, "a freed type becomes null");
}

derived_buffer::derived_buffer(derived_type const& type, int copies)
    : type_(&type),
      copies_(copies),
      bytes_(static_cast<std::size_t>(copies * type.extent()), guard) {}

void derived_buffer::fill(random_numbers random) {
  for (int copy = 0; copy < copies_; ++copy)
    for (std::ptrdiff_t offset : type_->offsets())
      type_->base().store(bytes_.data() + copy * type_->extent() + offset, operation::maximum,
                          random, 1);
}

std::uint64_t derived_buffer::hash() const {
  std::uint64_t result = static_cast<std::uint64_t>(copies_ * type_->items());
  for (int copy = 0; copy < copies_; ++copy)
    for (std::ptrdiff_t offset : type_->offsets())
      result = mix(result ^ type_->base().hash(bytes_.data() + copy * type_->extent() + offset));
  return result;
}

void derived_buffer::check_gaps() const {
  std::vector<bool> covered(bytes_.size());
  for (int copy = 0; copy < copies_; ++copy)
    for (std::ptrdiff_t offset : type_->offsets())
      std::fill_n(covered.begin() + copy * type_->extent() + offset, type_->base().bytes, true);
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    check(covered[i] || bytes_[i] == guard, "bytes between items are left alone");
}

item_type const& draw_number_type(random_numbers& random) {
  for (;;) {
    item_type const& type = draw_type(random);
    bool is_number =
        std::count(type.operations.begin(), type.operations.end(), operation::maximum) > 0;
    if (is_number) return type;
  }
}

}  // namespace random_program
