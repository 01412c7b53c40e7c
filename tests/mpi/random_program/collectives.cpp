// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Steps of the random program: the collectives of the first tier, with random roots, types,
// lengths, operations and displacements. Arguments that MPI ignores on a rank are null there.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "items.hpp"
#include "program.hpp"

namespace random_program {
namespace {

int root_of(scene& s) { return s.group.below(s.on.size); }

std::size_t here(scene const& s) { return static_cast<std::size_t>(s.on.rank); }

void barrier(scene& s) { MPI_Barrier(s.on.handle); }

void bcast(scene& s) {
  item_type const& type = draw_type(s.group);
  int root = root_of(s), count = s.items();
  buffer data(type, count);
  if (s.on.rank == root) data.fill(s.data());
  MPI_Bcast(data.data(), count, type.handle, root, s.on.handle);
  s.of.fold(data.hash());
}

void reduce(scene& s) {
  reduction r = draw_reduction(s.group);
  int root = root_of(s), count = s.items();
  bool is_root = s.on.rank == root, in_place = s.group.one_in(3);
  buffer mine(*r.type, count), result(*r.type, is_root ? count : 0);
  mine.fill(s.data(), r.kind, s.on.size);
  if (is_root && in_place) {
    MPI_Reduce(MPI_IN_PLACE, mine.data(), count, r.type->handle, r.op, root, s.on.handle);
    s.of.fold(mine.hash());
    return;
  }
  unchanged watch(mine);
  void* into = is_root ? result.data() : nullptr;
  MPI_Reduce(mine.data(), into, count, r.type->handle, r.op, root, s.on.handle);
  if (is_root) s.of.fold(result.hash());
}

using reduction_call = int (*)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

// Allreduce, Scan and Exscan. Exscan leaves the result of rank 0 undefined.
void reduce_everywhere(scene& s, reduction_call call, bool rank_0_has_result) {
  reduction r = draw_reduction(s.group);
  int count = s.items();
  bool in_place = s.group.one_in(3), has_result = rank_0_has_result || s.on.rank > 0;
  buffer mine(*r.type, count), result(*r.type, count);
  mine.fill(s.data(), r.kind, s.on.size);
  if (in_place) {
    call(MPI_IN_PLACE, mine.data(), count, r.type->handle, r.op, s.on.handle);
    if (has_result) s.of.fold(mine.hash());
    return;
  }
  unchanged watch(mine);
  call(mine.data(), result.data(), count, r.type->handle, r.op, s.on.handle);
  if (has_result) s.of.fold(result.hash());
}

void allreduce(scene& s) { reduce_everywhere(s, MPI_Allreduce, true); }
void scan(scene& s) { reduce_everywhere(s, MPI_Scan, true); }
void exscan(scene& s) { reduce_everywhere(s, MPI_Exscan, false); }

void gather(scene& s) {
  item_type const& type = draw_type(s.group);
  int root = root_of(s), count = s.items(s.on.size);
  bool is_root = s.on.rank == root, in_place = s.group.one_in(3);
  buffer mine(type, count), all(type, is_root ? count * s.on.size : 0);
  mine.fill(s.data());
  if (is_root && in_place) {
    all.fill_part(root * count, count, s.data());
    MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all.data(), count, type.handle, root,
               s.on.handle);
  } else {
    unchanged watch(mine);
    MPI_Gather(mine.data(), count, type.handle, is_root ? all.data() : nullptr, is_root ? count : 0,
               type.handle, root, s.on.handle);
  }
  if (is_root) s.of.fold(all.hash());
}

void gatherv(scene& s) {
  item_type const& type = draw_type(s.group);
  int root = root_of(s);
  bool is_root = s.on.rank == root, in_place = s.group.one_in(3);
  layout blocks(s.items_of_ranks(), s.group);
  int count = blocks.counts[here(s)];
  buffer mine(type, count), all(type, is_root ? blocks.items : 0);
  mine.fill(s.data());
  if (!is_root) {
    MPI_Gatherv(mine.data(), count, type.handle, nullptr, nullptr, nullptr, type.handle, root,
                s.on.handle);
    return;
  }
  if (in_place) all.fill_part(blocks.places[here(s)], count, s.data());
  void const* from = in_place ? MPI_IN_PLACE : mine.data();
  MPI_Gatherv(from, count, type.handle, all.data(), blocks.counts.data(), blocks.places.data(),
              type.handle, root, s.on.handle);
  all.check_gaps(blocks);
  s.of.fold(all.hash(blocks));
}

void scatter(scene& s) {
  item_type const& type = draw_type(s.group);
  int root = root_of(s), count = s.items(s.on.size);
  bool is_root = s.on.rank == root, in_place = s.group.one_in(3);
  buffer all(type, is_root ? count * s.on.size : 0), mine(type, count);
  all.fill(s.data());
  unchanged watch(all);
  void* into = is_root && in_place ? MPI_IN_PLACE : mine.data();
  MPI_Scatter(is_root ? all.data() : nullptr, is_root ? count : 0, type.handle, into, count,
              type.handle, root, s.on.handle);
  s.of.fold(is_root && in_place ? all.hash(root * count, count) : mine.hash());
}

void scatterv(scene& s) {
  item_type const& type = draw_type(s.group);
  int root = root_of(s);
  bool is_root = s.on.rank == root, in_place = s.group.one_in(3);
  layout blocks(s.items_of_ranks(), s.group);
  int count = blocks.counts[here(s)];
  buffer all(type, is_root ? blocks.items : 0), mine(type, count);
  all.fill(s.data());
  unchanged watch(all);
  if (!is_root) {
    MPI_Scatterv(nullptr, nullptr, nullptr, type.handle, mine.data(), count, type.handle, root,
                 s.on.handle);
    s.of.fold(mine.hash());
    return;
  }
  void* into = in_place ? MPI_IN_PLACE : mine.data();
  MPI_Scatterv(all.data(), blocks.counts.data(), blocks.places.data(), type.handle, into, count,
               type.handle, root, s.on.handle);
  s.of.fold(in_place ? all.hash(blocks.places[here(s)], count) : mine.hash());
}

void allgather(scene& s) {
  item_type const& type = draw_type(s.group);
  int count = s.items(s.on.size);
  bool in_place = s.group.one_in(3);
  buffer mine(type, count), all(type, count * s.on.size);
  mine.fill(s.data());
  if (in_place) {
    all.fill_part(s.on.rank * count, count, s.data());
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, type.handle, s.on.handle);
  } else {
    unchanged watch(mine);
    MPI_Allgather(mine.data(), count, type.handle, all.data(), count, type.handle, s.on.handle);
  }
  s.of.fold(all.hash());
}

void allgatherv(scene& s) {
  item_type const& type = draw_type(s.group);
  bool in_place = s.group.one_in(3);
  std::vector<int> counts = s.items_of_ranks();
  layout blocks(counts, s.of.own);  // displacements may differ between ranks
  int count = counts[here(s)];
  buffer mine(type, count), all(type, blocks.items);
  mine.fill(s.data());
  if (in_place) all.fill_part(blocks.places[here(s)], count, s.data());
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine.data(), count, type.handle, all.data(),
                 blocks.counts.data(), blocks.places.data(), type.handle, s.on.handle);
  all.check_gaps(blocks);
  s.of.fold(all.hash(blocks));
}

void alltoall(scene& s) {
  item_type const& type = draw_type(s.group);
  int count = s.items(s.on.size);
  bool in_place = s.group.one_in(3);
  buffer sent(type, count * s.on.size), received(type, count * s.on.size);
  sent.fill(s.data());
  if (in_place) {
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sent.data(), count, type.handle, s.on.handle);
    s.of.fold(sent.hash());
    return;
  }
  unchanged watch(sent);
  MPI_Alltoall(sent.data(), count, type.handle, received.data(), count, type.handle, s.on.handle);
  s.of.fold(received.hash());
}

void alltoallv(scene& s) {
  item_type const& type = draw_type(s.group);
  bool in_place = s.group.one_in(4);
  pair_items lengths(s, in_place);
  layout from(lengths.to_rank(s.on.rank), s.of.own);
  if (in_place) {
    buffer both(type, from.items);
    for (std::size_t i = 0; i < from.counts.size(); ++i)
      both.fill_part(from.places[i], from.counts[i], random_numbers(s.data().next() + i));
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, both.data(),
                  from.counts.data(), from.places.data(), type.handle, s.on.handle);
    both.check_gaps(from);
    s.of.fold(both.hash(from));
    return;
  }
  layout to(lengths.of_rank(s.on.rank), s.of.own);
  buffer sent(type, to.items), received(type, from.items);
  sent.fill(s.data());
  unchanged watch(sent);
  MPI_Alltoallv(sent.data(), to.counts.data(), to.places.data(), type.handle, received.data(),
                from.counts.data(), from.places.data(), type.handle, s.on.handle);
  received.check_gaps(from);
  s.of.fold(received.hash(from));
}

[[maybe_unused]] bool const added = add_steps({
    {"allgather", 1, 3, allgather},
    {"allgatherv", 1, 3, allgatherv},
    {"allreduce", 1, 5, allreduce},
    {"alltoall", 1, 3, alltoall},
    {"alltoallv", 1, 6, alltoallv},
    {"barrier", 1, 1, barrier},
    {"bcast", 1, 4, bcast},
    {"exscan", 1, 3, exscan},
    {"gather", 1, 3, gather},
    {"gatherv", 1, 3, gatherv},
    {"reduce", 1, 4, reduce},
    {"scan", 1, 3, scan},
    {"scatter", 1, 3, scatter},
    {"scatterv", 1, 3, scatterv},
});

}  // namespace
}  // namespace random_program
