// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Collective operations that fold items, from left to right in the order of ranks.

#include "both_forms.hpp"
#include "child.hpp"
#include "exchange.hpp"

namespace outsize::bsp::mpi {

namespace {

/// Items that are to be folded.
struct addends {
  void const* from;
  void* into;
  std::int64_t count;
  MPI_Datatype type;
  MPI_Op fold;
  char const* call;

  items own() const { return items_of(from == MPI_IN_PLACE ? into : from, count, type, call); }
  /// The arguments in which members must agree.
  agreed with(folding const& by, int root = 0) const {
    return {.root = root,
            .item_bytes = static_cast<std::uint64_t>(by.type().size),
            .items = static_cast<std::uint64_t>(count),
            .fold = by.identity()};
  }
};

started reduce(addends const& all_items, int root, MPI_Comm comm) {
  char const* const call = all_items.call;
  communicator& mine = communicator_of(comm, call);
  bool const is_root = rank_in(mine, root, call) == mine.rank;
  if (!is_root && all_items.from == MPI_IN_PLACE) {
    refuse("%s: MPI_IN_PLACE is not possible here", call);
  }
  if (is_root) items_of(all_items.into, all_items.count, all_items.type, call);
  folding into(all_items.fold, all_items.type, all_items.count, is_root ? all_items.into : nullptr,
               call);
  exchange all(mine, call, all_items.with(into, root));
  all.put(root, all_items.own());
  if (!is_root) return started(std::move(all));
  int const size = all.size();
  return started::folded(std::move(all), size, std::move(into));
}

/// One rank folds, so that all get the same bits.
void all_reduce(addends all_items, MPI_Comm comm) {
  if (all_items.from == MPI_IN_PLACE) all_items.from = all_items.into;
  reduce(all_items, 0, comm).finish();
  char const* const call = all_items.call;
  items const result = items_of(all_items.into, all_items.count, all_items.type, call);
  exchange const all(communicator_of(comm, call), call, {.item_bytes = result.bytes()});
  if (all.rank() == 0) {
    all.put_to_all(result, 0);
  } else {
    all.take_one(result);
  }
}

/// The fold of the ranks so far goes from each to the next.
void scan(addends const& all_items, MPI_Comm comm, bool is_inclusive) {
  char const* const call = all_items.call;
  communicator& mine = communicator_of(comm, call);
  folding up_to(all_items.fold, all_items.type, all_items.count, nullptr, call);
  items const own = all_items.own();
  exchange const all(mine, call, all_items.with(up_to));
  temporary const before(up_to.bytes(), call);
  if (all.rank() != 0) {
    all.take_one(items_of(before.data(), static_cast<std::int64_t>(up_to.bytes()), MPI_BYTE, call));
    up_to.add_packed(before.data());
  }
  up_to.add(own);
  if (all.rank() + 1 < all.size()) all.put(all.rank() + 1, up_to.folded());
  items into = own;
  into.buffer = all_items.into;
  if (is_inclusive) {
    copy(up_to.folded(), into.buffer);
  } else if (all.rank() != 0) {
    unpack(before.data(), up_to.bytes(), into);
  }
}

/// The same in the background: every rank folds the parts of all, in the same order.
started reduce_everywhere(addends const& all_items, MPI_Comm comm) {
  char const* const call = all_items.call;
  items const own = all_items.own();
  folding into(all_items.fold, all_items.type, all_items.count, all_items.into, call);
  exchange all(communicator_of(comm, call), call, all_items.with(into));
  all.put_to_all(own);
  int const size = all.size();
  return started::folded(std::move(all), size, std::move(into));
}

/// A scan in the background: every rank folds the parts of those before it.
started begin_scan(addends const& all_items, MPI_Comm comm, bool is_inclusive) {
  char const* const call = all_items.call;
  communicator& mine = communicator_of(comm, call);
  bool const has_result = is_inclusive || mine.rank != 0;
  items const own = all_items.own();
  folding into(all_items.fold, all_items.type, all_items.count,
               has_result ? all_items.into : nullptr, call);
  exchange all(mine, call, all_items.with(into));
  all.put_to_some(own, is_inclusive ? mine.rank : mine.rank + 1, mine.size);
  int const parts = is_inclusive ? mine.rank + 1 : mine.rank;
  if (parts == 0) return started(std::move(all));
  return started::folded(std::move(all), parts, std::move(into));
}

void reduce_local(addends const& all_items) {
  items const left = all_items.own();
  items right = left;
  right.buffer = all_items.into;
  folding both(all_items.fold, all_items.type, all_items.count, nullptr, all_items.call);
  both.add(left);
  both.add(right);
  copy(both.folded(), right.buffer);
}

/// Every member folds its own stretch of the items.
started reduce_scatter(addends all_items, layout const& stretches, MPI_Comm comm) {
  char const* const call = all_items.call;
  communicator& mine = communicator_of(comm, call);
  folding into(all_items.fold, all_items.type, stretches.at(mine.rank).count, all_items.into, call);
  all_items.count = 0;
  for (int i = 0; i < mine.size; ++i) all_items.count += stretches.at(i).count;
  exchange all(mine, call, all_items.with(into));
  all.put_each(stretches);
  return started::folded(std::move(all), stretches.size(), std::move(into));
}

template <typename Count>
started reduce_scatter_uneven(addends const& all_items, Count const* counts, MPI_Comm comm) {
  constexpr int const* one_after_the_other = nullptr;
  return reduce_scatter(
      all_items,
      layout::uneven(all_items.from == MPI_IN_PLACE ? all_items.into : all_items.from, counts,
                     one_after_the_other, all_items.type,
                     communicator_of(comm, all_items.call).size, all_items.call),
      comm);
}

started reduce_scatter_even(addends const& all_items, MPI_Comm comm) {
  return reduce_scatter(
      all_items,
      layout::even(all_items.from == MPI_IN_PLACE ? all_items.into : all_items.from,
                   all_items.count, all_items.type, communicator_of(comm, all_items.call).size,
                   all_items.call),
      comm);
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

#define ADDENDS(COUNT) \
  { sendbuf, recvbuf, COUNT, datatype, op, call }

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                    \
  (void const* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Reduce, Ireduce, PARAMETERS, reduce(ADDENDS(count), root, comm))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                          \
  (void const* sendbuf, void* recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_BOTH(Allreduce, PARAMETERS, all_reduce(ADDENDS(count), comm))
OUTSIZE_MPI_BACKGROUND(Iallreduce, PARAMETERS, reduce_everywhere(ADDENDS(count), comm))
OUTSIZE_MPI_BOTH(Scan, PARAMETERS, scan(ADDENDS(count), comm, true))
OUTSIZE_MPI_BACKGROUND(Iscan, PARAMETERS, begin_scan(ADDENDS(count), comm, true))
OUTSIZE_MPI_BOTH(Exscan, PARAMETERS, scan(ADDENDS(count), comm, false))
OUTSIZE_MPI_BACKGROUND(Iexscan, PARAMETERS, begin_scan(ADDENDS(count), comm, false))
OUTSIZE_MPI_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, PARAMETERS,
                       reduce_scatter_even(ADDENDS(count), comm))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES, ...)                                                       \
  (void const* sendbuf, void* recvbuf, COUNT const recvcounts[], MPI_Datatype datatype, MPI_Op op, \
   MPI_Comm comm __VA_OPT__(, ) __VA_ARGS__)
OUTSIZE_MPI_COLLECTIVE(Reduce_scatter, Ireduce_scatter, PARAMETERS,
                       reduce_scatter_uneven(ADDENDS(0), recvcounts, comm))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES) \
  (void const* inbuf, void* inoutbuf, COUNT count, MPI_Datatype datatype, MPI_Op op)
OUTSIZE_MPI_BOTH(Reduce_local, PARAMETERS,
                 reduce_local({inbuf, inoutbuf, count, datatype, op, call}))
#undef PARAMETERS
#undef ADDENDS

}  // extern "C"
