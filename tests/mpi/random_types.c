// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Random derived types, of all constructors: negative strides and extents, blocks that overlap,
// blocks without items, bounds of their own, different basic types. Prints for each its size and
// bounds, and hashes of its packed items and of memory after a message that ends within an item.
//
// Usage: random_types [FIRST_SEED [TYPES]], on one rank

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { depth = 4, half = 1 << 17 };

static uint64_t state;

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

static int below(int bound) { return (int)(mix(++state) % (uint64_t)bound); }

// A type, and bounds that its data do not exceed; items of one basic type only may overlap.
struct drawn {
  MPI_Datatype type;
  MPI_Aint low, high;
};

static MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(type, &lb, &extent);
  return extent;
}

static void include(struct drawn* made, const struct drawn* inner, MPI_Aint at, int count) {
  MPI_Aint last = at + (count - 1) * extent_of(inner->type);
  if (count == 0) return;
  if (at + inner->low < made->low) made->low = at + inner->low;
  if (last + inner->low < made->low) made->low = last + inner->low;
  if (at + inner->high > made->high) made->high = at + inner->high;
  if (last + inner->high > made->high) made->high = last + inner->high;
}

static void draw_vector(struct drawn* made, const struct drawn* inner) {
  int count = 1 + below(3), length = 1 + below(2), stride = below(9) - 4, in_bytes = below(2);
  if (stride == -1) stride = 5;  // Open MPI 4.1 finds wrong bounds then
  MPI_Aint step = in_bytes ? 8 * stride : stride * extent_of(inner->type);
  if (in_bytes) {
    MPI_Type_create_hvector(count, length, step, inner->type, &made->type);
  } else {
    MPI_Type_vector(count, length, stride, inner->type, &made->type);
  }
  for (int i = 0; i < count; ++i) include(made, inner, i * step, length);
}

static void draw_indexed(struct drawn* made, const struct drawn* inner) {
  int count = 1 + below(3), in_bytes = below(2), lengths[3], places[3];
  MPI_Aint bytes[3];
  for (int i = 0; i < count; ++i) {
    lengths[i] = i == 0 ? 1 + below(2) : below(3);
    places[i] = below(9) - 4;
    bytes[i] = in_bytes ? 8 * places[i] : places[i] * extent_of(inner->type);
    include(made, inner, bytes[i], lengths[i]);
  }
  if (in_bytes) {
    MPI_Type_create_hindexed(count, lengths, bytes, inner->type, &made->type);
  } else {
    MPI_Type_indexed(count, lengths, places, inner->type, &made->type);
  }
}

static void draw_subarray(struct drawn* made, const struct drawn* inner) {
  int dimensions = 1 + below(3), sizes[3], parts[3], starts[3], all = 1;
  for (int d = 0; d < dimensions; ++d) {
    sizes[d] = 1 + below(3);
    parts[d] = 1 + below(sizes[d]);
    starts[d] = below(sizes[d] - parts[d] + 1);
    all *= sizes[d];
  }
  MPI_Type_create_subarray(dimensions, sizes, parts, starts,
                           all % 2 == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner->type,
                           &made->type);
  include(made, inner, 0, all);
}

static void draw_struct(struct drawn* made, const struct drawn* inner, const struct drawn* other) {
  int length = 1 + below(2), lengths[3] = {length, length - 1, 2 - length};
  MPI_Aint places[3];
  const struct drawn* all[3] = {inner, other, inner};
  MPI_Datatype types[3] = {inner->type, other->type, inner->type};
  for (int i = 0; i < 3; ++i) {
    places[i] = 8 * (below(17) - 8);
    include(made, all[i], places[i], lengths[i]);
  }
  MPI_Type_create_struct(3, lengths, places, types, &made->type);
}

static struct drawn draw(int levels) {
  static const MPI_Datatype basic[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_FLOAT};
  struct drawn made = {MPI_DATATYPE_NULL, 0, 0};
  if (levels == 0) {
    int kind = below(5);
    made.type = basic[kind];
    made.high = extent_of(made.type);
    return made;
  }
  struct drawn inner = draw(levels - 1), other = draw(levels - 1);
  int kind = below(6), size = 0;
  MPI_Type_size(inner.type, &size);
  if (size == 0) kind = 5;  // MPIs differ in the bounds of nothing
  if (kind == 0) {
    int count = 1 + below(3);
    MPI_Type_contiguous(count, inner.type, &made.type);
    include(&made, &inner, 0, count);
  }
  if (kind == 1) draw_vector(&made, &inner);
  if (kind == 2) draw_indexed(&made, &inner);
  if (kind == 3) draw_subarray(&made, &inner);
  if (kind == 4) {
    MPI_Aint lb = 8 * (below(5) - 2), extent = 8 * (below(9) - 2);
    MPI_Type_create_resized(inner.type, lb, extent, &made.type);
    include(&made, &inner, 0, 1);
  }
  if (kind == 5) draw_struct(&made, &inner, &other);
  if (levels > 1) MPI_Type_free(&inner.type);
  if (levels > 1) MPI_Type_free(&other.type);
  return made;
}

static uint64_t hash(const unsigned char* bytes, size_t count) {
  uint64_t all = count;
  for (size_t i = 0; i < count; ++i) all = mix(all ^ bytes[i]);
  return all;
}

static void fill(unsigned char* bytes) {
  for (int i = 0; i < 2 * half; ++i) bytes[i] = (unsigned char)(i * 167 + i / 256);
}

static void show(struct drawn* one, unsigned char* from, unsigned char* into,
                 unsigned char* packed) {
  int count = 1 + below(3), size = 0, position = 0, all = 0;
  MPI_Aint lb, extent;
  MPI_Type_size(one->type, &size);
  MPI_Type_get_extent(one->type, &lb, &extent);
  printf("size %d, from %ld, extent %ld", size, (long)lb, (long)extent);
  MPI_Aint way = (count - 1) * extent;
  if (one->low + (way < 0 ? way : 0) > -half && one->high + (way > 0 ? way : 0) < half) {
    MPI_Type_commit(&one->type);
    MPI_Pack_size(count, one->type, MPI_COMM_SELF, &all);
    MPI_Pack(from + half, count, one->type, packed, all, &position, MPI_COMM_SELF);
    printf(", packed %016llx", (unsigned long long)hash(packed, (size_t)position));
    memset(into, 0x55, 2 * half);
    MPI_Sendrecv(packed, position - position / 3, MPI_BYTE, 0, 1, into + half, count, one->type, 0,
                 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    memset(packed, 0, (size_t)position);
    MPI_Sendrecv(into + half, count, one->type, 0, 1, packed, position, MPI_BYTE, 0, 1,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    printf(", sent %016llx", (unsigned long long)hash(packed, (size_t)position));
    printf(", memory %016llx", (unsigned long long)hash(into, 2 * half));
  }
  puts("");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int first = argc > 1 ? atoi(argv[1]) : 1, types = argc > 2 ? atoi(argv[2]) : 20;
  unsigned char *from = malloc(2 * half), *into = malloc(2 * half), *packed = malloc(64 * half);
  for (int i = 0; i < types; ++i) {
    state = mix((uint64_t)(first + i));
    struct drawn one = draw(1 + below(depth));
    fill(from);
    show(&one, from, into, packed);
    MPI_Type_free(&one.type);
  }
  free(packed);
  free(into);
  free(from);
  MPI_Finalize();
  return 0;
}
