// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Groups, communicators made from them, and grids.

#include "check.h"

static void check_translation(void) {
  MPI_Group world, last;
  int chosen[1] = {size - 1}, translated[2] = {0, 0}, found = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, chosen, &last);
  int ranks[2] = {size - 1, MPI_PROC_NULL};
  MPI_Group_translate_ranks(world, 2, ranks, last, translated);
  CHECK(translated[0] == 0 && translated[1] == MPI_PROC_NULL);
  ranks[0] = 0;
  MPI_Group_translate_ranks(world, 1, ranks, last, translated);
  CHECK(translated[0] == (size == 1 ? 0 : MPI_UNDEFINED));
  MPI_Group_translate_ranks(world, 0, ranks, last, translated);
  MPI_Group_rank(last, &found);
  CHECK(found == (rank == size - 1 ? 0 : MPI_UNDEFINED));
  MPI_Group_free(&last);
  MPI_Group_incl(world, 0, chosen, &last);
  CHECK(last == MPI_GROUP_EMPTY);
  MPI_Group_size(last, &found);
  CHECK(found == 0);
  MPI_Group_free(&last);
  CHECK(last == MPI_GROUP_NULL);
  MPI_Group_free(&world);
}

// Even and odd ranks make a communicator each by one call, in falling order.
static void check_disjoint(void) {
  MPI_Group world, mine;
  MPI_Comm comm;
  int ranks[64], count = 0, place = -1, all = 0, sum = 0;
  for (int r = size - 1; r >= 0; --r) {
    if (r % 2 == rank % 2 && count < 64) ranks[count++] = r;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, ranks, &mine);
  MPI_Comm_create(MPI_COMM_WORLD, mine, &comm);
  MPI_Comm_rank(comm, &place);
  MPI_Comm_size(comm, &all);
  CHECK(all == count && ranks[place] == rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) sum -= ranks[i];
  CHECK(sum == 0);
  MPI_Comm_free(&comm);
  MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
  CHECK(comm == MPI_COMM_NULL);
  MPI_Group_free(&mine);
  MPI_Group_free(&world);
}

static void check_comparisons(void) {
  int result = 0;
  MPI_Comm comm;
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_IDENT);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
  CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  MPI_Comm_compare(MPI_COMM_WORLD, comm, &result);
  CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
  MPI_Comm_free(&comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                      MPI_INFO_NULL, &comm);
  CHECK((comm == MPI_COMM_NULL) == (rank == 0));
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

// Hundreds of communicators, a few at a time.
static void check_many(void) {
  for (int i = 0; i < 200; ++i) {
    MPI_Comm one, other;
    int sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_split(one, rank % 3, rank, &other);
    MPI_Comm_free(&one);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_MAX, other);
    CHECK(sum == i);
    MPI_Comm_free(&other);
  }
}

void check_groups(void) {
  check_translation();
  check_disjoint();
  check_comparisons();
  check_many();
}

static void check_dims(int nodes, int a, int b, int c, int x, int y, int z) {
  int dims[3] = {a, b, c}, count = z == 0 ? 2 : 3;
  MPI_Dims_create(nodes, count, dims);
  CHECK(dims[0] == x && dims[1] == y && (count == 2 || dims[2] == z));
}

static void check_line(int is_periodic) {
  MPI_Comm line, copy;
  int from = 0, to = 0, found = 0, place = -1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &line);
  MPI_Comm_dup(line, &copy);  // a grid as well
  MPI_Comm_free(&line);
  MPI_Cart_shift(copy, 0, 1, &from, &to);
  CHECK(to == (rank + 1 < size ? rank + 1 : is_periodic ? 0 : MPI_PROC_NULL));
  CHECK(from == (rank > 0 ? rank - 1 : is_periodic ? size - 1 : MPI_PROC_NULL));
  MPI_Cart_shift(copy, 0, -1, &from, &to);
  CHECK(from == (rank + 1 < size ? rank + 1 : is_periodic ? 0 : MPI_PROC_NULL));
  MPI_Cart_shift(copy, 0, 0, &from, &to);
  CHECK(from == rank && to == rank);
  if (is_periodic) {
    int outside = rank - 3 * size;
    MPI_Cart_rank(copy, &outside, &found);
    CHECK(found == rank);
    MPI_Cart_shift(copy, 0, 2 * size + 1, &from, &to);
    CHECK(to == (rank + 1) % size);
  }
  MPI_Cart_coords(copy, rank, 1, &place);
  CHECK(place == rank);
  MPI_Comm_free(&copy);
}

static void check_point(void) {
  MPI_Comm point;
  int nothing = 0, all = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 0, &nothing, &nothing, 0, &point);
  CHECK((point == MPI_COMM_NULL) == (rank > 0));
  if (point == MPI_COMM_NULL) return;
  MPI_Comm_size(point, &all);
  CHECK(all == 1);
  MPI_Comm_free(&point);
}

void check_grids(void) {
  check_dims(6, 0, 0, 0, 3, 2, 0);
  check_dims(7, 0, 0, 0, 7, 1, 0);
  check_dims(12, 0, 0, 0, 4, 3, 0);
  check_dims(6, 0, 3, 0, 2, 3, 1);
  check_dims(16, 0, 0, 0, 4, 2, 2);
  check_dims(1000, 0, 0, 0, 10, 10, 10);
  check_dims(6, 2, 3, 0, 2, 3, 0);
  MPI_Dims_create(1, 0, NULL);
  check_line(0);
  check_line(1);
  check_point();
}
