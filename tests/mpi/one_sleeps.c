// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Rank 1 waits for rank 0, which prints the process of rank 1 and starts a program that sleeps for a
// minute.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long process = (long)getpid();
  if (rank == 1) MPI_Ssend(&process, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&process, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%ld\n", process);
    fflush(stdout);
    if (system("sleep 60") != 0) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Finalize();
  return 0;
}
