// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Bounds of types, and messages of such types to the rank itself.

#include <stddef.h>
#include <string.h>

#include "check.h"

struct record {
  double value;
  char mark;
};

static void check_bounds(MPI_Datatype type, int bytes, MPI_Aint lb, MPI_Aint extent) {
  int found = -1;
  MPI_Aint low = -1, length = -1;
  MPI_Type_size(type, &found);
  MPI_Type_get_extent(type, &low, &length);
  CHECK(found == bytes);
  CHECK(low == lb && length == extent);
}

static void check_and_free(MPI_Datatype type, int bytes, MPI_Aint lb, MPI_Aint extent) {
  check_bounds(type, bytes, lb, extent);
  MPI_Type_free(&type);
  CHECK(type == MPI_DATATYPE_NULL);
}

static void check_extents(void) {
  MPI_Datatype type, inner;
  int lengths[3] = {1, 1, 0};
  MPI_Aint places[3] = {0, 8, 100};
  MPI_Datatype types[3] = {MPI_DOUBLE, MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &type);
  check_bounds(type, 9, 0, sizeof(struct record));
  MPI_Type_contiguous(3, type, &inner);
  check_and_free(inner, 27, 0, 3 * sizeof(struct record));
  MPI_Type_free(&type);
  MPI_Type_create_struct(3, lengths, places, types, &type);  // an empty block counts for nothing
  check_and_free(type, 9, 0, 16);
  types[0] = MPI_INT;
  places[1] = 4;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  check_and_free(type, 5, 0, 8);
  MPI_Type_create_struct(0, lengths, places, types, &type);
  check_and_free(type, 0, 0, 0);
  MPI_Type_vector(3, 2, 4, MPI_INT, &type);  // nothing behind the last block
  check_and_free(type, 24, 0, 40);
  MPI_Type_vector(2, 1, -3, MPI_INT, &type);
  check_and_free(type, 8, -12, 16);
  MPI_Type_contiguous(0, MPI_DOUBLE, &type);
  check_and_free(type, 0, 0, 0);
}

static void check_own_bounds(void) {
  MPI_Datatype type, outer;
  MPI_Type_create_resized(MPI_INT, -4, 12, &type);
  check_bounds(type, 4, -4, 12);
  MPI_Type_contiguous(2, type, &outer);
  check_and_free(outer, 8, -4, 24);
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, 13};
  MPI_Datatype types[2] = {type, MPI_CHAR};
  MPI_Type_create_struct(2, lengths, places, types, &outer);  // set bounds count alone
  check_and_free(outer, 5, -4, 12);
  MPI_Type_free(&type);
  check_bounds(MPI_INT, 4, 0, 4);
  check_bounds(MPI_DOUBLE_INT, 12, 0, 16);
  check_bounds(MPI_SHORT_INT, 6, 0, 8);
  check_bounds(MPI_LONG_DOUBLE_INT, 20, 0, 32);
}

// Sends items to the rank itself.
static void copy(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                 MPI_Datatype into_type, MPI_Status* status) {
  MPI_Sendrecv(from, count, type, rank, 1, into, into_count, into_type, rank, 1, MPI_COMM_WORLD,
               status);
}

static void check_subarrays(void) {
  int sizes[3] = {2, 3, 4}, parts[3] = {1, 2, 2}, starts[3] = {1, 0, 2};
  int from[24], c[4], fortran[4];
  MPI_Datatype type;
  for (int i = 0; i < 24; ++i) from[i] = i;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
  check_bounds(type, 16, 0, 96);
  MPI_Type_commit(&type);
  copy(from, 1, type, c, 4, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(c[0] == 14 && c[1] == 15 && c[2] == 18 && c[3] == 19);
  MPI_Type_free(&type);
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
  check_bounds(type, 16, 0, 96);
  MPI_Type_commit(&type);
  copy(from, 1, type, fortran, 4, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(fortran[0] == 13 && fortran[1] == 15 && fortran[2] == 19 && fortran[3] == 21);
  MPI_Type_free(&type);
}

// The order of blocks is that on the way; a message may end within an item.
static void check_orders(void) {
  int lengths[3] = {1, 2, 1}, places[3] = {4, 0, 2}, from[5] = {0, 1, 2, 3, 4}, into[8];
  MPI_Datatype type, pair;
  MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  copy(from, 1, type, into, 8, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(into[0] == 4 && into[1] == 0 && into[2] == 1 && into[3] == 2);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  memset(into, -1, sizeof into);
  MPI_Status status;
  int items = 0;
  copy(from, 3, MPI_INT, into, 2, pair, &status);  // one and a half
  MPI_Get_count(&status, pair, &items);
  CHECK(items == MPI_UNDEFINED);
  CHECK(into[0] == 0 && into[1] == -1 && into[2] == 1 && into[3] == 2 && into[5] == -1);
  MPI_Type_free(&pair);
  MPI_Type_free(&type);
}

// Columns of a matrix, which overlap, from a type whose extent is shorter than its data.
static void check_columns(void) {
  double matrix[3][4], column[3];
  MPI_Datatype type, resized;
  for (int i = 0; i < 12; ++i) matrix[i / 4][i % 4] = i;
  MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &type);
  MPI_Type_create_resized(type, 0, sizeof(double), &resized);
  MPI_Type_free(&type);
  MPI_Type_commit(&resized);
  double all[12];
  copy(matrix, 4, resized, all, 12, MPI_DOUBLE, MPI_STATUS_IGNORE);
  for (int i = 0; i < 12; ++i) CHECK(all[i] == i % 3 * 4 + i / 3);
  if (size <= 4) {
    MPI_Scatter(matrix, 1, resized, column, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) CHECK(column[i] == i * 4 + rank);
  }
  MPI_Type_free(&resized);
}

// Items from last to first, by a negative extent.
static void check_negative_extent(void) {
  int from[4] = {0, 1, 2, 3}, into[4];
  MPI_Datatype type;
  MPI_Type_create_hvector(4, 1, -4, MPI_INT, &type);
  MPI_Type_commit(&type);
  copy(from + 3, 1, type, into, 4, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(into[0] == 3 && into[1] == 2 && into[2] == 1 && into[3] == 0);
  MPI_Type_free(&type);
}

static int in_globals[2] = {1, 2};

static void check_absolute_addresses(void) {
  int on_stack[2] = {3, 4}, into[4] = {0, 0, 0, 0}, lengths[2] = {2, 2};
  MPI_Aint places[2];
  MPI_Datatype type;
  MPI_Get_address(in_globals, &places[0]);
  MPI_Get_address(on_stack, &places[1]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  copy(MPI_BOTTOM, 1, type, into, 4, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(into[0] == 1 && into[1] == 2 && into[2] == 3 && into[3] == 4);
  for (int i = 0; i < 4; ++i) into[i] = 10 + i;
  copy(into, 4, MPI_INT, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE);
  CHECK(in_globals[0] == 10 && in_globals[1] == 11 && on_stack[0] == 12 && on_stack[1] == 13);
  MPI_Type_free(&type);
}

// Bytes between the members of a pair are left alone.
static void check_pairs(void) {
  struct {
    double value;
    int place;
    int gap;
  } from = {1.5, 7, 1}, into = {0, 0, 2};
  copy(&from, 1, MPI_DOUBLE_INT, &into, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE);
  CHECK(into.value == 1.5 && into.place == 7 && into.gap == 2);
  MPI_Allreduce(MPI_IN_PLACE, &into, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(into.value == 1.5 && into.place == 7);
}

void check_types(void) {
  check_extents();
  check_own_bounds();
  check_subarrays();
  check_orders();
  check_columns();
  check_negative_extent();
  check_absolute_addresses();
  check_pairs();
}

void check_packing(void) {
  MPI_Datatype type;
  MPI_Type_vector(3, 1, 2, MPI_SHORT, &type);
  MPI_Type_commit(&type);
  short from[6] = {1, 2, 3, 4, 5, 6}, into[6] = {0, 0, 0, 0, 0, 0};
  double number = 0.5, copied = 0;
  char packed[64];
  int position = 0, end = 0, most = 0;
  MPI_Pack_size(1, type, MPI_COMM_WORLD, &most);
  CHECK(most >= 6);
  MPI_Pack(from, 1, type, packed, 64, &position, MPI_COMM_WORLD);
  MPI_Pack(&number, 1, MPI_DOUBLE, packed, 64, &position, MPI_COMM_WORLD);
  end = position;
  position = 0;
  MPI_Unpack(packed, end, &position, into, 1, type, MPI_COMM_WORLD);
  MPI_Unpack(packed, end, &position, &copied, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  CHECK(position == end && copied == 0.5);
  CHECK(into[0] == 1 && into[1] == 0 && into[2] == 3 && into[3] == 0 && into[4] == 5);
  MPI_Pack(from, 0, type, packed, 64, &position, MPI_COMM_WORLD);
  CHECK(position == end);
  MPI_Type_free(&type);
}
