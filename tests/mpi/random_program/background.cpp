// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A step of level 2 of the random program: several collective operations under way at once, ended
// in any order, while messages pass.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "items.hpp"
#include "program.hpp"

namespace random_program {
namespace {

// One operation: its buffers stay in place until all have ended.
struct background {
  buffer from, into;
  bool has_result;
};

using folding_call = int (*)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
using moving_call = int (*)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm,
                            MPI_Request*);
using rooted_call = int (*)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm,
                            MPI_Request*);

using operations = std::deque<background>;

MPI_Request begin_folding(scene& s, operations& all, folding_call call, int parts,
                          bool rank_0_has_result) {
  reduction r = draw_reduction(s.group);
  int count = s.items(parts);
  bool in_place = s.group.one_in(3);
  MPI_Request request;
  background& one = all.emplace_back(background{
      {*r.type, in_place ? 0 : count * parts}, {*r.type, in_place ? count * parts : count}, true});
  (in_place ? one.into : one.from).fill(s.data(), r.kind, s.on.size);
  call(in_place ? MPI_IN_PLACE : one.from.data(), one.into.data(), count, r.type->handle, r.op,
       s.on.handle, &request);
  // In place, the rest of a longer vector is undefined.
  one.has_result = (rank_0_has_result || s.on.rank > 0) && !(in_place && parts > 1);
  return request;
}

MPI_Request begin_moving(scene& s, operations& all, moving_call call, int parts) {
  item_type const& type = draw_type(s.group);
  int count = s.items(s.on.size);
  MPI_Request request;
  background& one =
      all.emplace_back(background{{type, count * parts}, {type, count * s.on.size}, true});
  one.from.fill(s.data());
  call(one.from.data(), count, type.handle, one.into.data(), count, type.handle, s.on.handle,
       &request);
  return request;
}

MPI_Request begin_rooted(scene& s, operations& all, rooted_call call, bool gathers) {
  item_type const& type = draw_type(s.group);
  int root = s.group.below(s.on.size), count = s.items(s.on.size);
  bool is_root = s.on.rank == root;
  int many = is_root ? count * s.on.size : 0;
  MPI_Request request;
  background& one = all.emplace_back(background{
      {type, gathers ? count : many}, {type, gathers ? many : count}, is_root || !gathers});
  one.from.fill(s.data());
  call(one.from.data(), count, type.handle, one.into.data(), count, type.handle, root, s.on.handle,
       &request);
  return request;
}

MPI_Request begin_broadcast(scene& s, operations& all) {
  item_type const& type = draw_type(s.group);
  int root = s.group.below(s.on.size), count = s.items();
  MPI_Request request;
  background& one = all.emplace_back(background{{type, 0}, {type, count}, true});
  if (s.on.rank == root) one.into.fill(s.data());
  MPI_Ibcast(one.into.data(), count, type.handle, root, s.on.handle, &request);
  return request;
}

MPI_Request begin_any(scene& s, operations& all) {
  switch (s.group.below(9)) {
    case 0:
      return begin_folding(s, all, MPI_Iallreduce, 1, true);
    case 1:
      return begin_folding(s, all, MPI_Iscan, 1, true);
    case 2:
      return begin_folding(s, all, MPI_Iexscan, 1, false);
    case 3:
      return begin_folding(s, all, MPI_Ireduce_scatter_block, s.on.size, true);
    case 4:
      return begin_moving(s, all, MPI_Iallgather, 1);
    case 5:
      return begin_moving(s, all, MPI_Ialltoall, s.on.size);
    case 6:
      return begin_rooted(s, all, MPI_Igather, true);
    case 7:
      return begin_rooted(s, all, MPI_Iscatter, false);
    default:
      return begin_broadcast(s, all);
  }
}

// By this rank's own choice of calls; their number depends on the order of arrival.
void end_all(scene& s, std::vector<MPI_Request>& requests) {
  random_numbers chosen(s.of.own.next());
  int count = static_cast<int>(requests.size()), index = 0, done = 0;
  for (int left = count; left > 0;) {
    if (chosen.one_in(2)) {
      MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
      done = 1;
    } else {
      auto last = static_cast<std::size_t>(chosen.below(count));
      done = requests[last] == MPI_REQUEST_NULL ? 0 : 1;
      MPI_Wait(&requests[last], MPI_STATUS_IGNORE);
    }
    left -= done;
  }
}

void several_in_background(scene& s) {
  operations all;
  std::vector<MPI_Request> requests;
  int count = 1 + s.group.below(4);
  for (int i = 0; i < count; ++i) requests.push_back(begin_any(s, all));
  std::uint64_t mine = s.of.state, received = 0;
  MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (s.on.rank + 1) % s.on.size, 9, &received, 1, MPI_UINT64_T,
               (s.on.rank + s.on.size - 1) % s.on.size, 9, s.on.handle, MPI_STATUS_IGNORE);
  end_all(s, requests);
  s.of.fold(received);
  for (background const& one : all)
    if (one.has_result) s.of.fold(one.into.hash());
}

[[maybe_unused]] bool const added = add_steps({
    {"several_in_background", 2, 3, several_in_background},
});

}  // namespace
}  // namespace random_program
