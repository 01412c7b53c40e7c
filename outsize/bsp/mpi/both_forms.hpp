// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Definitions of a function and its large form, which differ in the types of counts, displacements
// in items, and numbers of bytes only. Layer: bsp.

#include "mpi.h"
#include "pmpi_aliases.inc"
#include "requests.hpp"

/// PARAMETERS is a macro of these three types; BODY knows the name of the function as `call`.
/// Receives under way whose handles are freed are looked after at the end.
#define OUTSIZE_MPI_BOTH(NAME, PARAMETERS, BODY)                   \
  int PMPI_##NAME PARAMETERS(int, int, MPI_Aint) {                 \
    constexpr char const* call = "MPI_" #NAME;                     \
    BODY;                                                          \
    match_freed_receives();                                        \
    return MPI_SUCCESS;                                            \
  }                                                                \
  int PMPI_##NAME##_c PARAMETERS(MPI_Count, MPI_Aint, MPI_Count) { \
    constexpr char const* call = "MPI_" #NAME "_c";                \
    BODY;                                                          \
    match_freed_receives();                                        \
    return MPI_SUCCESS;                                            \
  }                                                                \
  OUTSIZE_MPI_WEAK(NAME)
