// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Collective operations: parts that ranks put and take, by the number of the operation in its
// communicator. Reductions fold in the order of ranks.

#include <stdlib.h>
#include <string.h>

#include "child.hpp"
#include "handles.hpp"
#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

using process::part;

/// The items of each member in a buffer: `each` of them, or counts at displacements, of either of
/// MPI's forms.
struct layout {
  void* buffer;
  std::uint64_t item_bytes;
  std::int64_t each = 0;
  int const* counts = nullptr;
  int const* places = nullptr;
  MPI_Count const* large_counts = nullptr;
  MPI_Aint const* large_places = nullptr;

  std::byte* at(int member) const {
    std::int64_t const place = counts != nullptr         ? places[member]
                               : large_counts != nullptr ? large_places[member]
                                                         : each * member;
    return static_cast<std::byte*>(buffer) + place * static_cast<std::int64_t>(item_bytes);
  }
  std::uint64_t bytes(int member) const {
    std::int64_t const count = counts != nullptr         ? counts[member]
                               : large_counts != nullptr ? large_counts[member]
                                                         : each;
    return static_cast<std::uint64_t>(count) * item_bytes;
  }
};

/// Memory for as long as a call lasts.
class temporary {
 public:
  temporary(std::uint64_t bytes, char const* call) : memory_(::malloc(bytes)) {
    if (memory_ == nullptr) refuse("%s: no memory for %lu bytes", call, bytes);
  }
  temporary(temporary const&) = delete;
  temporary& operator=(temporary const&) = delete;
  ~temporary() { ::free(memory_); }
  std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_;
};

/// One operation of a communicator.
class operation {
 public:
  operation(MPI_Comm comm, char const* call, int root = 0, std::uint64_t item_bytes = 0,
            std::uint64_t items = 0, MPI_Op fold = MPI_OP_NULL)
      : mine_(communicator_of(comm, call)), call_(call), number_(mine_.next_number++) {
    rank_in(mine_, root, call);
    ::strncpy(control->text, call, process::most_text - 1);
    ask(call::begin, mine_.group, number_, root, item_bytes, items,
        fold == MPI_OP_NULL ? 0 : reinterpret_cast<std::uint64_t>(fold));
  }

  communicator const& comm() const { return mine_; }
  int rank() const { return mine_.rank; }
  int size() const { return mine_.size; }

  void put(int to, void const* from, std::uint64_t bytes) {
    exposed const there(from, bytes);
    parts()[0] = {
        .member = static_cast<std::uint64_t>(to), .address = there.address(), .bytes = bytes};
    control->part_count = 1;
    ask(call::put_parts, mine_.group, number_, mine_.rank);
  }

  /// Puts the same for every member but `without` (-1: none).
  void put_to_all(void const* from, std::uint64_t bytes, int without) {
    exposed const there(from, bytes);
    std::uint32_t count = 0;
    for (int to = 0; to < mine_.size; ++to) {
      if (to != without) parts()[count++].member = static_cast<std::uint64_t>(to);
    }
    control->part_count = count;
    ask(call::put_to_many, mine_.group, number_, there.address(), bytes, mine_.rank);
  }

  /// Puts each member's items.
  void put_each(layout const& out) {
    if (!is_reachable(out)) {
      for (int to = 0; to < mine_.size; ++to) put(to, out.at(to), out.bytes(to));
      return;
    }
    for (int to = 0; to < mine_.size; ++to) {
      parts()[to] = {.member = static_cast<std::uint64_t>(to),
                     .address = reachable(out.at(to)),
                     .bytes = out.bytes(to)};
    }
    control->part_count = static_cast<std::uint32_t>(mine_.size);
    ask(call::put_parts, mine_.group, number_, mine_.rank);
  }

  /// Waits for so many parts; parts() says from whom, and how long.
  void wait(int count) { ask(call::wait_parts, mine_.group, number_, count); }

  /// Waits for one part, and takes it.
  void take_one(void* into, std::uint64_t bytes) {
    exposed there(into, bytes, true);
    wait(1);
    check_length(parts()[0], bytes);
    parts()[0].address = there.address();
    ask(call::take_parts);
    there.finish(bytes);
  }

  /// Waits for one part, which is in its place already.
  void drop_one() {
    wait(1);
    temporary const nowhere(parts()[0].bytes + 1, call_);
    parts()[0].address = reachable(nowhere.data());
    ask(call::take_parts);
  }

  /// Waits for a part of each member, and takes all.
  void take_each(layout const& in) {
    if (!is_reachable(in)) return take_each_by_copy(in);
    wait(mine_.size);
    for (int i = 0; i < mine_.size; ++i) {
      part& one = parts()[i];
      int const source = static_cast<int>(one.member);
      check_length(one, in.bytes(source));
      one.address = reachable(in.at(source));
    }
    ask(call::take_parts);
  }

  /// Waits for parts of `count` members, and takes them side by side. Returns false: no memory.
  void take_side_by_side(int count, void* into, std::uint64_t bytes) {
    wait(count);
    for (int i = 0; i < count; ++i) {
      part& one = parts()[i];
      check_length(one, bytes);
      one.address = reinterpret_cast<std::uint64_t>(static_cast<std::byte*>(into) +
                                                    static_cast<std::uint64_t>(i) * bytes);
    }
    ask(call::take_parts);
  }

 private:
  part* parts() const { return process::parts_of(*shared, rank_in_world); }

  void check_length(part const& one, std::uint64_t bytes) const {
    if (one.bytes == bytes) return;
    refuse("%s: rank %d sent %lu bytes for a buffer of %lu", call_, static_cast<int>(one.member),
           one.bytes, bytes);
  }

  bool is_reachable(layout const& all) const {
    for (int i = 0; i < mine_.size; ++i) {
      if (all.bytes(i) != 0 && reachable(all.at(i)) == 0) return false;
    }
    return true;
  }

  void take_each_by_copy(layout const& in) {
    std::uint64_t total = 0;
    for (int i = 0; i < mine_.size; ++i) total += in.bytes(i);
    auto* const copy = static_cast<std::byte*>(::malloc(total));
    if (copy == nullptr) refuse("%s: no memory for %lu bytes", call_, total);
    wait(mine_.size);
    std::uint64_t place = 0;
    for (int i = 0; i < mine_.size; ++i) {
      part& one = parts()[i];
      check_length(one, in.bytes(static_cast<int>(one.member)));
      one.address = reinterpret_cast<std::uint64_t>(copy + place);
      place += one.bytes;
    }
    ask(call::take_parts);
    place = 0;
    for (int source = 0; source < mine_.size; ++source) {  // parts come by source
      ::memcpy(in.at(source), copy + place, in.bytes(source));
      place += in.bytes(source);
    }
    ::free(copy);
  }

  communicator& mine_;
  char const* call_;
  std::uint64_t number_;
};

void broadcast(void* buffer, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm,
               char const* call) {
  std::uint64_t const bytes = bytes_of(count, type, call);
  operation all(comm, call, root, 1, bytes);
  if (all.rank() == root) {
    all.put_to_all(buffer, bytes, root);
  } else {
    all.take_one(buffer, bytes);
  }
}

void reduce(void const* from, void* into, std::int64_t count, MPI_Datatype type, MPI_Op fold,
            int root, MPI_Comm comm, char const* call) {
  std::uint64_t const bytes = bytes_of(count, type, call);
  detail::fold_function const combine = fold_of(fold, type, call);
  operation all(comm, call, root, size_of(type, call), static_cast<std::uint64_t>(count), fold);
  all.put(root, from == MPI_IN_PLACE ? into : from, bytes);
  if (all.rank() != root) return;
  temporary const parts(bytes * static_cast<std::uint64_t>(all.size()), call);
  all.take_side_by_side(all.size(), parts.data(), bytes);
  for (int i = 1; i < all.size(); ++i) {
    combine(parts.data(), parts.data() + static_cast<std::uint64_t>(i) * bytes,
            static_cast<std::uint64_t>(count));
  }
  if (bytes != 0) ::memcpy(into, parts.data(), bytes);
}

void all_reduce(void const* from, void* into, std::int64_t count, MPI_Datatype type, MPI_Op fold,
                MPI_Comm comm, char const* call) {
  reduce(from, into, count, type, fold, 0, comm, call);
  broadcast(into, count, type, 0, comm, call);
}

/// The fold of the ranks so far goes from each to the next.
void scan(void const* from, void* into, std::int64_t count, MPI_Datatype type, MPI_Op fold,
          MPI_Comm comm, bool is_inclusive, char const* call) {
  std::uint64_t const bytes = bytes_of(count, type, call);
  detail::fold_function const combine = fold_of(fold, type, call);
  temporary const before(bytes + 1, call);
  temporary const up_to(bytes + 1, call);
  operation all(comm, call, 0, size_of(type, call), static_cast<std::uint64_t>(count), fold);
  void const* const own = from == MPI_IN_PLACE ? into : from;
  if (all.rank() == 0) {
    ::memcpy(up_to.data(), own, bytes);
  } else {
    all.take_one(before.data(), bytes);
    ::memcpy(up_to.data(), before.data(), bytes);
    combine(up_to.data(), own, static_cast<std::uint64_t>(count));
  }
  if (all.rank() + 1 < all.size()) all.put(all.rank() + 1, up_to.data(), bytes);
  if (is_inclusive) {
    ::memcpy(into, up_to.data(), bytes);
  } else if (all.rank() != 0) {
    ::memcpy(into, before.data(), bytes);
  }
}

/// Own items, of which the layout knows where they are if they are in place.
struct own_items {
  void const* from;
  std::uint64_t bytes;
};

void gather(own_items own, layout const& all_items, int root, MPI_Comm comm, char const* call) {
  operation all(comm, call, root);
  if (all.rank() == root && own.from == MPI_IN_PLACE) {
    own = {all_items.at(root), all_items.bytes(root)};
  }
  all.put(root, own.from, own.bytes);
  if (all.rank() == root) all.take_each(all_items);
}

void scatter(layout const& all_items, void* into, std::uint64_t bytes, int root, MPI_Comm comm,
             char const* call) {
  operation all(comm, call, root);
  if (all.rank() == root) all.put_each(all_items);
  if (into == MPI_IN_PLACE) return all.drop_one();
  all.take_one(into, bytes);
}

void all_gather(own_items own, layout const& all_items, MPI_Comm comm, char const* call) {
  operation all(comm, call);
  if (own.from == MPI_IN_PLACE) {
    own = {all_items.at(all.rank()), all_items.bytes(all.rank())};
  }
  all.put_to_all(own.from, own.bytes, -1);
  all.take_each(all_items);
}

void all_to_all(layout const& out, layout const& in, MPI_Comm comm, char const* call) {
  operation all(comm, call);
  all.put_each(out.buffer == MPI_IN_PLACE ? in : out);
  all.take_each(in);
}

layout even(void const* buffer, std::int64_t each, MPI_Datatype type, char const* call) {
  return {.buffer = const_cast<void*>(buffer), .item_bytes = size_of(type, call), .each = each};
}
layout uneven(void const* buffer, int const* counts, int const* places, MPI_Datatype type,
              char const* call) {
  return {.buffer = const_cast<void*>(buffer),
          .item_bytes = size_of(type, call),
          .counts = counts,
          .places = places};
}
layout uneven(void const* buffer, MPI_Count const* counts, MPI_Aint const* places,
              MPI_Datatype type, char const* call) {
  return {.buffer = const_cast<void*>(buffer),
          .item_bytes = size_of(type, call),
          .large_counts = counts,
          .large_places = places};
}
/// Arguments that a member does not look at may be anything.
constexpr layout none = {.buffer = nullptr, .item_bytes = 0};

bool is_root(MPI_Comm comm, int root, char const* call) {
  return communicator_of(comm, call).rank == root;
}

own_items own(void const* from, std::int64_t count, MPI_Datatype type, char const* call) {
  return {from, from == MPI_IN_PLACE ? 0 : bytes_of(count, type, call)};
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

// Both forms of a function differ in their counts and displacements only.
#define OUTSIZE_MPI_BOTH(NAME, PARAMETERS, BODY)        \
  int PMPI_##NAME PARAMETERS(int, int) {                \
    constexpr char const* call = "MPI_" #NAME;          \
    BODY;                                               \
    return MPI_SUCCESS;                                 \
  }                                                     \
  int PMPI_##NAME##_c PARAMETERS(MPI_Count, MPI_Aint) { \
    constexpr char const* call = "MPI_" #NAME "_c";     \
    BODY;                                               \
    return MPI_SUCCESS;                                 \
  }                                                     \
  OUTSIZE_MPI_WEAK(NAME)

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
  operation const all(comm, "MPI_Barrier");
  ask(call::barrier, all.comm().group);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Barrier)

#define PARAMETERS(COUNT, PLACE) \
  (void* buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Bcast, PARAMETERS, broadcast(buffer, count, datatype, root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                                                \
  (void const* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, \
   MPI_Comm comm)
OUTSIZE_MPI_BOTH(Reduce, PARAMETERS,
                 reduce(sendbuf, recvbuf, count, datatype, op, root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE) \
  (void const* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Allreduce, PARAMETERS,
                 all_reduce(sendbuf, recvbuf, count, datatype, op, comm, call))
OUTSIZE_MPI_BOTH(Scan, PARAMETERS, scan(sendbuf, recvbuf, count, datatype, op, comm, true, call))
OUTSIZE_MPI_BOTH(Exscan, PARAMETERS, scan(sendbuf, recvbuf, count, datatype, op, comm, false, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                                                \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
   MPI_Datatype recvtype, int root, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Gather, PARAMETERS,
                 gather(own(sendbuf, sendcount, sendtype, call),
                        is_root(comm, root, call) ? even(recvbuf, recvcount, recvtype, call) : none,
                        root, comm, call))
OUTSIZE_MPI_BOTH(Scatter, PARAMETERS,
                 scatter(is_root(comm, root, call) ? even(sendbuf, sendcount, sendtype, call)
                                                   : none,
                         recvbuf, recvbuf == MPI_IN_PLACE ? 0 : bytes_of(recvcount, recvtype, call),
                         root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                               \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, \
   COUNT const recvcounts[], PLACE const displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Gatherv, PARAMETERS,
                 gather(own(sendbuf, sendcount, sendtype, call),
                        is_root(comm, root, call)
                            ? uneven(recvbuf, recvcounts, displs, recvtype, call)
                            : none,
                        root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                                               \
  (void const* sendbuf, COUNT const sendcounts[], PLACE const displs[], MPI_Datatype sendtype, \
   void* recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Scatterv, PARAMETERS,
                 scatter(is_root(comm, root, call)
                             ? uneven(sendbuf, sendcounts, displs, sendtype, call)
                             : none,
                         recvbuf, recvbuf == MPI_IN_PLACE ? 0 : bytes_of(recvcount, recvtype, call),
                         root, comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                                                \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, COUNT recvcount, \
   MPI_Datatype recvtype, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Allgather, PARAMETERS,
                 all_gather(own(sendbuf, sendcount, sendtype, call),
                            even(recvbuf, recvcount, recvtype, call), comm, call))
OUTSIZE_MPI_BOTH(Alltoall, PARAMETERS,
                 all_to_all(sendbuf == MPI_IN_PLACE
                                ? layout{.buffer = MPI_IN_PLACE, .item_bytes = 0}
                                : even(sendbuf, sendcount, sendtype, call),
                            even(recvbuf, recvcount, recvtype, call), comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                               \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, void* recvbuf, \
   COUNT const recvcounts[], PLACE const displs[], MPI_Datatype recvtype, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Allgatherv, PARAMETERS,
                 all_gather(own(sendbuf, sendcount, sendtype, call),
                            uneven(recvbuf, recvcounts, displs, recvtype, call), comm, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE)                                                                \
  (void const* sendbuf, COUNT const sendcounts[], PLACE const sdispls[], MPI_Datatype sendtype, \
   void* recvbuf, COUNT const recvcounts[], PLACE const rdispls[], MPI_Datatype recvtype,       \
   MPI_Comm comm)
OUTSIZE_MPI_BOTH(Alltoallv, PARAMETERS,
                 all_to_all(sendbuf == MPI_IN_PLACE
                                ? layout{.buffer = MPI_IN_PLACE, .item_bytes = 0}
                                : uneven(sendbuf, sendcounts, sdispls, sendtype, call),
                            uneven(recvbuf, recvcounts, rdispls, recvtype, call), comm, call))
#undef PARAMETERS

}  // extern "C"
