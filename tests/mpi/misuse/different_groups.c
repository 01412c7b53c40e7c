// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Ranks that share members make communicators of different groups. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int ranks[2] = {0, rank == 0 ? 1 : 2};
  MPI_Group all, some;
  MPI_Comm made;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, ranks, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &made);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "different_groups: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
