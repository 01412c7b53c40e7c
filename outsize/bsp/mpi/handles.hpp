// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The meaning of MPI's handles in a process: types, operations, communicators, requests.
// Freestanding. One thread. Layer: bsp.

#include <cstddef>
#include <cstdint>

#include <outsize/bsp/detail/fold.hpp>

#include "mpi.h"

namespace outsize::bsp::mpi {

/// A communicator as its member sees it.
struct communicator {
  std::uint64_t group = 0;  ///< The engine's number.
  int rank = 0;
  int size = 0;
  std::uint64_t next_number = 0;  ///< The next of its collective operations.
};

/// Refuses, by the name of the call, a value that is not a handle of this kind.
communicator& communicator_of(MPI_Comm comm, char const* call);
/// A new handle for a group.
MPI_Comm add_communicator(std::uint64_t group, int rank, int size);
void remove_communicator(MPI_Comm comm);
/// World and self; once, by MPI_Init.
void make_first_communicators();

std::uint64_t size_of(MPI_Datatype type, char const* call);
/// Bytes of `count` items.
std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type, char const* call);
detail::fold_function fold_of(MPI_Op operation, MPI_Datatype type, char const* call);
int rank_in(communicator const& comm, int rank, char const* call);

/// Calls MPI functions may make only between MPI_Init and MPI_Finalize.
void check_started(char const* call);

/// A request under way. Sends have copied their bytes; receives are matched when somebody asks.
struct request {
  enum class state : std::uint8_t { unused, receiving, synchronous, done };
  state now = state::unused;
  std::uint64_t receipt = 0;  ///< If it is a synchronous send.
  std::uint64_t group = 0;
  void* into = nullptr;
  std::uint64_t most_bytes = 0;
  int source = 0;
  int tag = 0;
  MPI_Status status = {};
};

request& request_of(MPI_Request handle, char const* call);
MPI_Request add_request(request const& made);
void remove_request(MPI_Request handle);

void fill_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) noexcept;
std::uint64_t length_in(MPI_Status const& status) noexcept;

}  // namespace outsize::bsp::mpi
