// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Requests: messages and collective operations under way, and those that may be started again.
//
// A send copies its bytes when it is started. Receives under way are matched, in the order of their
// starts, when the rank asks for one of them or receives another way: until then messages wait in
// the store. A collective operation has put its parts; it takes those that have come when the rank
// asks for it and all are there.
//
// Freestanding. One thread. Layer: bsp.

#include <cstdint>

#include "communicators.hpp"
#include "datatype.hpp"
#include "exchange.hpp"

namespace outsize::bsp::mpi {

struct request : counted {
  enum class state : std::uint8_t { inactive, receiving, synchronous, collective, done };
  state now = state::inactive;
  bool is_persistent = false;
  bool sends = false;
  bool waits_for_match = false;  ///< It is a synchronous send.

  kept<communicator> comm = {};
  kept<datatype> type = {};
  void* buffer = nullptr;
  std::int64_t count = 0;
  int peer = 0;
  int tag = 0;

  std::uint64_t receipt = 0;     ///< The number of a synchronous send.
  kept<started> operation = {};  ///< If it is collective.
  MPI_Status status = {};

  items data() const { return {.buffer = buffer, .count = count, .type = &*type}; }
};

/// Checks the arguments of a send or receive, and makes a request that is inactive.
request make_send(items const& from, int to, int tag, MPI_Comm comm, char const* call);
request make_receive(items const& into, int source, int tag, MPI_Comm comm, char const* call);
/// Starts a message.
void start(request& one, char const* call);
/// Waits until it is done.
void wait(request& one);

request& request_of(MPI_Request handle, char const* call);
/// A handle for a request that make() made, whose reference it takes over.
MPI_Request add_request(request& made);
/// A handle for a collective operation.
MPI_Request add_request(started&& operation);
/// Takes a request's handle away; it stays while it is under way.
void remove_request(MPI_Request* handle);

/// Takes messages for receives under way that have come. Others may come meanwhile, which belong to
/// the first receive that wants them.
void match_receives();
/// The same, if a receive under way has no handle any more, so that nobody will ask for it.
void match_freed_receives();

/// Vain polls one after the other, with little computing between them, let other ranks run.
void begin_poll();
void note_vain_poll();

std::uint64_t source_of(int source);
std::uint64_t tag_of(int tag);
/// Refuses a source or a tag that no message can have.
void check_source(communicator const& comm, int source, int tag, char const* call);

void fill_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) noexcept;
std::uint64_t length_in(MPI_Status const& status) noexcept;

}  // namespace outsize::bsp::mpi
