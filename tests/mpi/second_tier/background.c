// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Collective operations in the background.

#include <string.h>

#include "check.h"

static void check_barriers(void) {
  MPI_Request request;
  int flag = 0, late = -1, polls = 0;
  if (size > 1 && rank == 0) {  // the others poll, as the barrier needs their message first
    for (int r = 1; r < size; ++r) {
      MPI_Recv(&late, 1, MPI_INT, r, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank > 0) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Send(&rank, 1, MPI_INT, 0, 30, MPI_COMM_WORLD);
  }
  while (!flag) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    ++polls;
  }
  CHECK(request == MPI_REQUEST_NULL && polls > 0);
}

// Two exchanges under way, ended in the other order.
static void check_two_exchanges(void) {
  int out[2][64], in[2][64], ones[64], places[64];
  MPI_Request all[3];
  if (size > 64) return;
  for (int r = 0; r < size; ++r) {
    ones[r] = 1;
    places[r] = size - 1 - r;
    out[0][places[r]] = 100 * rank + r;
    out[1][places[r]] = -100 * rank - r;
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Ialltoallv(out[i], ones, places, MPI_INT, in[i], ones, places, MPI_INT, MPI_COMM_WORLD,
                   &all[i]);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &all[2]);
  MPI_Wait(&all[2], MPI_STATUS_IGNORE);
  MPI_Wait(&all[1], MPI_STATUS_IGNORE);
  MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
  for (int r = 0; r < size; ++r) {
    CHECK(in[0][places[r]] == 100 * r + rank && in[1][places[r]] == -100 * r - rank);
  }
}

// A wait for a message, a synchronous send and an exchange at once.
static void check_mixture(void) {
  int in[64], ones[64], places[64], received = -1, index = 0, seen = 0;
  MPI_Request all[4];
  if (size > 64) return;
  for (int r = 0; r < size; ++r) {
    ones[r] = 1;
    places[r] = r;
    in[r] = rank + r;
  }
  MPI_Ialltoallv(MPI_IN_PLACE, ones, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD,
                 &all[0]);
  MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % size, 31, MPI_COMM_WORLD, &all[1]);
  MPI_Issend(&rank, 1, MPI_INT, (rank + size - 1) % size, 31, MPI_COMM_WORLD, &all[2]);
  MPI_Ibarrier(MPI_COMM_WORLD, &all[3]);
  for (int i = 0; i < 4; ++i) {
    MPI_Waitany(4, all, &index, MPI_STATUS_IGNORE);
    CHECK(index >= 0 && index < 4);
    seen |= 1 << index;
  }
  CHECK(seen == 15 && received == (rank + 1) % size);
  for (int r = 0; r < size; ++r) CHECK(in[r] == rank + r);
}

// Each operation in the background, all under way at once, and the same in the foreground.
enum { most = 16 };

struct results {
  int bcast[3], gather[2 * most], gatherv[3 * most], scatter[2], scatterv[3], all_gather[2 * most];
  int all_gatherv[3 * most], all_to_all[2 * most], mixed[2 * most], reduce[3], all_reduce[3];
  int scan[3], exscan[3], reduce_scatter[3], block[2];
};

struct arguments {
  int root, data[3 * most], counts[most], places[most], stretches[most];
  int twos[most], byte_places[most];
  MPI_Datatype types[most];
};

static void fill(struct arguments* with, struct results* into) {
  with->root = size - 1;
  for (int i = 0; i < 3 * most; ++i) with->data[i] = 1000 * rank + i;
  for (int r = 0; r < size; ++r) {
    with->counts[r] = r % 3;
    with->places[r] = 3 * (size - 1 - r);
    with->stretches[r] = r % 2;
    with->twos[r] = 2;
    with->byte_places[r] = 8 * r;
    with->types[r] = r % 2 == 0 ? MPI_INT : MPI_UNSIGNED;
  }
  memset(into, -1, sizeof *into);
  if (rank == with->root) memcpy(into->bcast, with->data, sizeof into->bcast);
}

static int begin_all(const struct arguments* a, struct results* into, MPI_Request* all) {
  int mine = a->counts[rank], n = 0;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Ibcast(into->bcast, 3, MPI_INT, a->root, comm, &all[n++]);
  MPI_Igather(a->data, 2, MPI_INT, into->gather, 2, MPI_INT, a->root, comm, &all[n++]);
  MPI_Igatherv(a->data, mine, MPI_INT, into->gatherv, a->counts, a->places, MPI_INT, a->root, comm,
               &all[n++]);
  MPI_Iscatter(a->data, 2, MPI_INT, into->scatter, 2, MPI_INT, a->root, comm, &all[n++]);
  MPI_Iscatterv(a->data, a->counts, a->places, MPI_INT, into->scatterv, mine, MPI_INT, a->root,
                comm, &all[n++]);
  MPI_Iallgather(a->data, 2, MPI_INT, into->all_gather, 2, MPI_INT, comm, &all[n++]);
  MPI_Iallgatherv(a->data, mine, MPI_INT, into->all_gatherv, a->counts, a->places, MPI_INT, comm,
                  &all[n++]);
  MPI_Ialltoall(a->data, 2, MPI_INT, into->all_to_all, 2, MPI_INT, comm, &all[n++]);
  MPI_Ialltoallw(a->data, a->twos, a->byte_places, a->types, into->mixed, a->twos, a->byte_places,
                 a->types, comm, &all[n++]);
  MPI_Ireduce(a->data, into->reduce, 3, MPI_INT, MPI_MAX, a->root, comm, &all[n++]);
  MPI_Iallreduce(a->data, into->all_reduce, 3, MPI_INT, MPI_SUM, comm, &all[n++]);
  MPI_Iscan(a->data, into->scan, 3, MPI_INT, MPI_SUM, comm, &all[n++]);
  MPI_Iexscan(a->data, into->exscan, 3, MPI_INT, MPI_SUM, comm, &all[n++]);
  MPI_Ireduce_scatter(a->data, into->reduce_scatter, a->stretches, MPI_INT, MPI_SUM, comm,
                      &all[n++]);
  MPI_Ireduce_scatter_block(a->data, into->block, 2, MPI_INT, MPI_BXOR, comm, &all[n++]);
  return n;
}

static void call_all(const struct arguments* a, struct results* into) {
  int mine = a->counts[rank];
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Bcast(into->bcast, 3, MPI_INT, a->root, comm);
  MPI_Gather(a->data, 2, MPI_INT, into->gather, 2, MPI_INT, a->root, comm);
  MPI_Gatherv(a->data, mine, MPI_INT, into->gatherv, a->counts, a->places, MPI_INT, a->root, comm);
  MPI_Scatter(a->data, 2, MPI_INT, into->scatter, 2, MPI_INT, a->root, comm);
  MPI_Scatterv(a->data, a->counts, a->places, MPI_INT, into->scatterv, mine, MPI_INT, a->root,
               comm);
  MPI_Allgather(a->data, 2, MPI_INT, into->all_gather, 2, MPI_INT, comm);
  MPI_Allgatherv(a->data, mine, MPI_INT, into->all_gatherv, a->counts, a->places, MPI_INT, comm);
  MPI_Alltoall(a->data, 2, MPI_INT, into->all_to_all, 2, MPI_INT, comm);
  MPI_Alltoallw(a->data, a->twos, a->byte_places, a->types, into->mixed, a->twos, a->byte_places,
                a->types, comm);
  MPI_Reduce(a->data, into->reduce, 3, MPI_INT, MPI_MAX, a->root, comm);
  MPI_Allreduce(a->data, into->all_reduce, 3, MPI_INT, MPI_SUM, comm);
  MPI_Scan(a->data, into->scan, 3, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(a->data, into->exscan, 3, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(a->data, into->reduce_scatter, a->stretches, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(a->data, into->block, 2, MPI_INT, MPI_BXOR, comm);
}

static void check_values(const struct results* found) {
  CHECK(found->bcast[2] == 1000 * (size - 1) + 2);
  CHECK(found->scatter[1] == 1000 * (size - 1) + 2 * rank + 1);
  for (int r = 0; r < size; ++r) {
    CHECK(found->all_gather[2 * r + 1] == 1000 * r + 1);
    CHECK(found->all_to_all[2 * r] == 1000 * r + 2 * rank);
    CHECK(found->mixed[2 * r + 1] == 1000 * r + 2 * rank + 1);
  }
  CHECK(found->scan[1] == 500 * rank * (rank + 1) + rank + 1);
  CHECK(found->exscan[1] == (rank == 0 ? -1 : 500 * rank * (rank - 1) + rank));
  CHECK(found->all_reduce[0] == 500 * size * (size - 1));
}

static void check_each(void) {
  static struct arguments with;
  static struct results background, foreground;
  MPI_Request all[most];
  if (size > most) return;
  fill(&with, &background);
  int count = begin_all(&with, &background, all);
  MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
  fill(&with, &foreground);
  call_all(&with, &foreground);
  check_values(&background);
  CHECK(memcmp(&background, &foreground, sizeof background) == 0);
}

static void check_local(void) {
  int left[2] = {1, 5}, right[2] = {3, 4}, commutes = 0;
  MPI_Reduce_local(left, right, 2, MPI_INT, MPI_MAX);
  CHECK(right[0] == 3 && right[1] == 5);
  MPI_Op_commutative(MPI_SUM, &commutes);
  CHECK(commutes);
}

void check_background(void) {
  check_each();
  check_local();
  check_barriers();
  check_two_exchanges();
  check_mixture();
}
