// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A message before MPI_Init. MPI ends the process with an error.

#include <mpi.h>
#include <stdio.h>

int main(void) {
  int data = 0;
  MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  fprintf(stderr, "before_init: not noticed\n");
  return 3;
}
