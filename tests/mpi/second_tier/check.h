// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Claims about functions of the second tier, which every MPI fulfils. A claim that does not hold
// ends all ranks.

#include <mpi.h>
#include <stdio.h>

extern int rank, size;  // of the world

#define CHECK(claim)                                                                            \
  do {                                                                                          \
    if (!(claim)) {                                                                             \
      fprintf(stderr, "%s:%d: rank %d: does not hold: %s\n", __FILE__, __LINE__, rank, #claim); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                             \
    }                                                                                           \
  } while (0)

void check_types(void);
void check_packing(void);
void check_requests(void);
void check_groups(void);
void check_grids(void);
void check_operations(void);
void check_background(void);
