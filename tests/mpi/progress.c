// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Waits that end by a synchronous send while a receive is under way, or by the second of two; and a
// Scatter in place from constants. And a rank that sleeps between its polls.

#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <stdio.h>
#include <time.h>

static void send_to_second(void) {
  int x = 1, y = 0, first = 0;
  MPI_Request receive, sends[2];
  MPI_Irecv(&y, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &receive);
  MPI_Issend(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &sends[0]);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  MPI_Send(&x, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Issend(&x, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &sends[0]);
  MPI_Issend(&x, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, &sends[1]);
  MPI_Waitany(2, sends, &first, MPI_STATUS_IGNORE);
  MPI_Send(&x, 1, MPI_INT, 1, 13, MPI_COMM_WORLD);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  if (first != 1 || y != 1) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void receive_from_first(void) {
  int z = 0;
  MPI_Recv(&z, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&z, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&z, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  MPI_Recv(&z, 1, MPI_INT, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&z, 1, MPI_INT, 0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&z, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// The first rank polls before the second has sent: others must run meanwhile.
static void poll_slowly(int rank) {
  struct timespec const pause = {0, 200000};
  MPI_Request receive;
  int x = 7, came = 0;
  if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 30, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Irecv(&x, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &receive);
  while (!came) {
    nanosleep(&pause, NULL);
    MPI_Test(&receive, &came, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  static const int all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int rank = 0, mine = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  poll_slowly(rank);
  if (rank == 0) send_to_second();
  if (rank == 1) receive_from_first();
  if (rank == 0) {
    MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } else {
    MPI_Scatter(NULL, 0, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (mine != rank) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) printf("verified\n");
  MPI_Finalize();
  return 0;
}
