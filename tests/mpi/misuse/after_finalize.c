// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A barrier after MPI_Finalize. MPI ends the process with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  MPI_Barrier(MPI_COMM_WORLD);
  fprintf(stderr, "after_finalize: not noticed\n");
  return 3;
}
