// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Ranks start programs by system(), popen() and posix_spawn(), with messages between.

#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char** environ;

static int spawned_code(void) {
  pid_t process = 0;
  int status = -1;
  char* words[] = {"sh", "-c", "exit 5", NULL};
  if (posix_spawn(&process, "/bin/sh", NULL, NULL, words, environ) != 0) return -1;
  if (waitpid(process, &status, 0) != process || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  int rank = 0, sum = 0, printed = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char command[64];
  snprintf(command, sizeof command, "exit %d", rank + 1);
  int status = system(command);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(command, sizeof command, "echo %d", 100 + rank);
  FILE* from = popen(command, "r");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (from == NULL || fscanf(from, "%d", &printed) != 1 || pclose(from) != 0) printed = -1;
  int is_right = WEXITSTATUS(status) == rank + 1 && printed == 100 + rank && spawned_code() == 5;
  int all = 0;
  MPI_Allreduce(&is_right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf(all ? "verified\n" : "wrong\n");
  return 0;
}
