// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Definitions of a function and its large form, which differ in the types of counts, displacements
// in items, and numbers of bytes only. Layer: bsp.

#include "mpi.h"
#include "pmpi_aliases.inc"
#include "requests.hpp"

/// PARAMETERS is a macro of these three types, and of parameters at the end, if it takes more; BODY
/// knows the name of the function as `call`. Receives under way whose handles are freed are looked
/// after at the end.
#define OUTSIZE_MPI_BOTH(NAME, PARAMETERS, BODY, ...)                                         \
  int PMPI_##NAME PARAMETERS(int, int, MPI_Aint __VA_OPT__(, ) __VA_ARGS__) {                 \
    constexpr char const* call = "MPI_" #NAME;                                                \
    BODY;                                                                                     \
    match_freed_receives();                                                                   \
    return MPI_SUCCESS;                                                                       \
  }                                                                                           \
  int PMPI_##NAME##_c PARAMETERS(MPI_Count, MPI_Aint, MPI_Count __VA_OPT__(, ) __VA_ARGS__) { \
    constexpr char const* call = "MPI_" #NAME "_c";                                           \
    BODY;                                                                                     \
    match_freed_receives();                                                                   \
    return MPI_SUCCESS;                                                                       \
  }                                                                                           \
  OUTSIZE_MPI_WEAK(NAME)

/// A collective operation in the background, from a `started` one.
#define OUTSIZE_MPI_BACKGROUND(NAME, PARAMETERS, START) \
  OUTSIZE_MPI_BOTH(NAME, PARAMETERS, *request = add_request(START), MPI_Request * request)

/// The operation, and the same in the background.
#define OUTSIZE_MPI_COLLECTIVE(NAME, BACKGROUND, PARAMETERS, START) \
  OUTSIZE_MPI_BOTH(NAME, PARAMETERS, (START).finish())              \
  OUTSIZE_MPI_BACKGROUND(BACKGROUND, PARAMETERS, START)
