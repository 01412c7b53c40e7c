// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Communicators, groups and grids in a process. A communicator is freed with the last of its
// handle and the requests that use it; then the engine forgets its group of ranks.
//
// Freestanding. One thread. Layer: bsp.

#include <cstdint>

#include "handle_table.hpp"
#include "mpi.h"

namespace outsize::bsp::mpi {

/// Ranks of the world in an order, which a group consists of.
struct rank_list : counted {
  rank_list(int count, char const* call);
  ~rank_list() { ::free(world); }
  /// The place of a rank of the world; MPI_UNDEFINED: it is not a member.
  int place_of(int rank) const noexcept;

  int size;
  int* world;
};

/// A grid of ranks: the last dimension is the fastest.
struct grid : counted {
  grid(int dimensions, int const* lengths, int const* are_periodic, char const* call);
  ~grid() { ::free(length); }

  int count;      ///< The number of dimensions.
  int* length;    ///< One for each dimension.
  int* periodic;  ///< For each dimension: 1 if it wraps round.
};

/// A communicator as its member sees it.
struct communicator : counted {
  communicator(std::uint64_t group, kept<rank_list> members);
  communicator(communicator const&) = delete;
  communicator& operator=(communicator const&) = delete;
  ~communicator();

  std::uint64_t group;  ///< The engine's number.
  kept<rank_list> members;
  kept<grid> topology = {};
  int rank;
  int size;
  std::uint64_t next_number = 0;  ///< The next of its collective operations.
};

/// Refuses, by the name of the call, a value that is not a communicator.
communicator& communicator_of(MPI_Comm comm, char const* call);
/// A new handle for a communicator, which takes the reference of the caller over.
MPI_Comm add_communicator(communicator& made);
/// World and self; once, by MPI_Init.
void make_first_communicators();
/// A collective operation of `of`: a communicator of these members, given as ranks of `of`. All
/// of them call it with the same color, and with the number of the same operation.
communicator& make_communicator(communicator const& of, std::uint64_t number, std::int64_t color,
                                kept<rank_list> const& members);

/// Refuses, by the name of the call, a value that is not a group.
rank_list& group_of(MPI_Group group, char const* call);

int rank_in(communicator const& comm, int rank, char const* call);

}  // namespace outsize::bsp::mpi
