// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Collective operations that move items. Each is begun: its parts are put; then it is finished, or
// becomes a request.

#include "both_forms.hpp"
#include "child.hpp"
#include "exchange.hpp"

namespace outsize::bsp::mpi {

namespace {

started begin_broadcast(items const& data, int root, communicator& comm, char const* call) {
  exchange all(comm, call, {.root = root, .item_bytes = 1, .items = data.bytes()});
  if (all.rank() != root) return started::one(std::move(all), data);
  all.put_to_all(data, root);
  return started(std::move(all));
}

/// @param all_items  At the root.
started begin_gather(items own, layout&& all_items, int root, communicator& comm,
                     char const* call) {
  exchange all(comm, call, {.root = root});
  if (all.rank() != root) {
    all.put(root, own);
    return started(std::move(all));
  }
  if (own.buffer != MPI_IN_PLACE) all.keep(own, all_items.at(root));
  return started::each(std::move(all), std::move(all_items));
}

/// @param all_items  At the root.
started begin_scatter(layout const& all_items, items const& into, int root, communicator& comm,
                      char const* call) {
  exchange all(comm, call, {.root = root});
  if (all.rank() != root) return started::one(std::move(all), into);
  all.put_each(all_items, root);
  if (into.buffer != MPI_IN_PLACE) all.keep(all_items.at(root), into);
  return started(std::move(all));
}

started begin_all_gather(items const& own, layout&& all_items, communicator& comm,
                         char const* call) {
  exchange all(comm, call);
  items const& place = all_items.at(all.rank());
  if (own.buffer != MPI_IN_PLACE) all.keep(own, place);
  all.put_to_all(place, all.rank());
  return started::each(std::move(all), std::move(all_items));
}

/// @param out  Of no members: in place.
started begin_all_to_all(layout const& out, layout&& in, communicator& comm, char const* call) {
  exchange all(comm, call);
  int const self = all.rank();
  all.put_each(out.size() == 0 ? in : out, self);
  if (out.size() != 0) all.keep(out.at(self), in.at(self));
  return started::each(std::move(all), std::move(in));
}

// Arguments that a member does not look at may be anything: they make no items.

items own_items(void const* buffer, std::int64_t count, MPI_Datatype type, bool can_be_in_place,
                char const* call) {
  if (buffer == MPI_IN_PLACE && can_be_in_place) return {.buffer = MPI_IN_PLACE};
  return items_of(buffer, count, type, call);
}

/// A collective call of a member.
struct caller {
  caller(MPI_Comm handle, char const* name)
      : comm(communicator_of(handle, name)), size(comm.size), call(name) {}
  caller(MPI_Comm handle, int root, char const* name) : caller(handle, name) {
    is_root = rank_in(comm, root, name) == comm.rank;
  }

  layout even(void const* buffer, std::int64_t each, MPI_Datatype type) const {
    return is_root ? layout::even(buffer, each, type, size, call) : layout();
  }
  template <typename Count, typename Place>
  layout uneven(void const* buffer, Count const* counts, Place const* places,
                MPI_Datatype type) const {
    return is_root ? layout::uneven(buffer, counts, places, type, size, call) : layout();
  }
  items own(void const* buffer, std::int64_t count, MPI_Datatype type) const {
    return own_items(buffer, count, type, is_root, call);
  }

  communicator& comm;
  int size;
  char const* call;
  bool is_root = true;  ///< Without a root, all members are.
};

started gather(void const* from, std::int64_t count, MPI_Datatype type, void* into,
               std::int64_t each, MPI_Datatype into_type, int root, MPI_Comm comm,
               char const* call) {
  caller const by(comm, root, call);
  return begin_gather(by.own(from, count, type), by.even(into, each, into_type), root, by.comm,
                      call);
}

template <typename Count, typename Place>
started gather_uneven(void const* from, std::int64_t count, MPI_Datatype type, void* into,
                      Count const* counts, Place const* places, MPI_Datatype into_type, int root,
                      MPI_Comm comm, char const* call) {
  caller const by(comm, root, call);
  return begin_gather(by.own(from, count, type), by.uneven(into, counts, places, into_type), root,
                      by.comm, call);
}

started scatter(void const* from, std::int64_t each, MPI_Datatype type, void* into,
                std::int64_t count, MPI_Datatype into_type, int root, MPI_Comm comm,
                char const* call) {
  caller const by(comm, root, call);
  return begin_scatter(by.even(from, each, type), by.own(into, count, into_type), root, by.comm,
                       call);
}

template <typename Count, typename Place>
started scatter_uneven(void const* from, Count const* counts, Place const* places,
                       MPI_Datatype type, void* into, std::int64_t count, MPI_Datatype into_type,
                       int root, MPI_Comm comm, char const* call) {
  caller const by(comm, root, call);
  return begin_scatter(by.uneven(from, counts, places, type), by.own(into, count, into_type), root,
                       by.comm, call);
}

started all_gather(void const* from, std::int64_t count, MPI_Datatype type, void* into,
                   std::int64_t each, MPI_Datatype into_type, MPI_Comm comm, char const* call) {
  caller const by(comm, call);
  return begin_all_gather(by.own(from, count, type), by.even(into, each, into_type), by.comm, call);
}

template <typename Count, typename Place>
started all_gather_uneven(void const* from, std::int64_t count, MPI_Datatype type, void* into,
                          Count const* counts, Place const* places, MPI_Datatype into_type,
                          MPI_Comm comm, char const* call) {
  caller const by(comm, call);
  return begin_all_gather(by.own(from, count, type), by.uneven(into, counts, places, into_type),
                          by.comm, call);
}

started all_to_all(void const* from, std::int64_t out, MPI_Datatype type, void* into,
                   std::int64_t in, MPI_Datatype into_type, MPI_Comm comm, char const* call) {
  caller const by(comm, call);
  return begin_all_to_all(from == MPI_IN_PLACE ? layout() : by.even(from, out, type),
                          by.even(into, in, into_type), by.comm, call);
}

template <typename Count, typename Place>
started all_to_all_uneven(void const* from, Count const* out, Place const* out_places,
                          MPI_Datatype type, void* into, Count const* in, Place const* in_places,
                          MPI_Datatype into_type, MPI_Comm comm, char const* call) {
  caller const by(comm, call);
  return begin_all_to_all(from == MPI_IN_PLACE ? layout() : by.uneven(from, out, out_places, type),
                          by.uneven(into, in, in_places, into_type), by.comm, call);
}

template <typename Count, typename Place>
started all_to_all_mixed(void const* from, Count const* out, Place const* out_places,
                         MPI_Datatype const* types, void* into, Count const* in,
                         Place const* in_places, MPI_Datatype const* into_types, MPI_Comm comm,
                         char const* call) {
  caller const by(comm, call);
  return begin_all_to_all(
      from == MPI_IN_PLACE ? layout() : layout::mixed(from, out, out_places, types, by.size, call),
      layout::mixed(into, in, in_places, into_types, by.size, call), by.comm, call);
}

started broadcast(void* buffer, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm,
                  char const* call) {
  communicator& mine = communicator_of(comm, call);
  return begin_broadcast(items_of(buffer, count, type, call), root, mine, call);
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
  exchange const all(communicator_of(comm, "MPI_Barrier"), "MPI_Barrier");
  ask(call::barrier, all.comm().group);
  match_freed_receives();
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Barrier)

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  exchange all(communicator_of(comm, "MPI_Ibarrier"), "MPI_Ibarrier", {.ends_when_begun = true});
  *request = add_request(started::until_begun(std::move(all)));
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Ibarrier)

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                   \
  (void* buffer, COUNT count, MPI_Datatype datatype, int root, \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Bcast, Ibcast, PARAMETERS,
                       broadcast(buffer, count, datatype, root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                    \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
   MPI_Datatype recvtype, int root, MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Gather, Igather, PARAMETERS,
                       gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              comm, call))
OUTSIZE_MPI_COLLECTIVE(Scatter, Iscatter, PARAMETERS,
                       scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                        \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf,      \
   COUNT const recvcounts[], PLACE const displs[], MPI_Datatype recvtype, int root, \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Gatherv, Igatherv, PARAMETERS,
                       gather_uneven(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                   \
  (void const* sendbuf, COUNT const sendcounts[], PLACE const displs[], MPI_Datatype sendtype, \
   void* recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root,                            \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Scatterv, Iscatterv, PARAMETERS,
                       scatter_uneven(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                      recvtype, root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                    \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
   MPI_Datatype recvtype, MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Allgather, Iallgather, PARAMETERS,
                       all_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                  call))
OUTSIZE_MPI_COLLECTIVE(Alltoall, Ialltoall, PARAMETERS,
                       all_to_all(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                  call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                   \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, \
   COUNT const recvcounts[], PLACE const displs[], MPI_Datatype recvtype,      \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Allgatherv, Iallgatherv, PARAMETERS,
                       all_gather_uneven(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                         recvtype, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                    \
  (void const* sendbuf, COUNT const sendcounts[], PLACE const sdispls[], MPI_Datatype sendtype, \
   void* recvbuf, COUNT const recvcounts[], PLACE const rdispls[], MPI_Datatype recvtype,       \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Alltoallv, Ialltoallv, PARAMETERS,
                       all_to_all_uneven(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                       \
  (void const* sendbuf, COUNT const sendcounts[], PLACE const sdispls[],                           \
   MPI_Datatype const sendtypes[], void* recvbuf, COUNT const recvcounts[], PLACE const rdispls[], \
   MPI_Datatype const recvtypes[], MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Alltoallw, Ialltoallw, PARAMETERS,
                       all_to_all_mixed(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                        recvcounts, rdispls, recvtypes, comm, call))
#undef PARAMETERS

}  // extern "C"
