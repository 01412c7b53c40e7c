// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Calls of the second tier that random programs do not reach: bounds, empty lists, borders, states
// of requests. Prints "verified" on any number of ranks.

#include "check.h"

int rank, size;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_types();
  check_packing();
  check_requests();
  check_groups();
  check_grids();
  check_operations();
  check_background();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("verified");
  MPI_Finalize();
  return 0;
}
