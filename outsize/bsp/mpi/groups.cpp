// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Groups: lists of ranks that a process has for itself.

#include "communicators.hpp"
#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

handle_table<rank_list, MPI_Group, handle_kind::group> groups;
rank_list* empty = nullptr;

}  // namespace

rank_list& group_of(MPI_Group group, char const* call) {
  check_started(call);
  if (group == MPI_GROUP_EMPTY) {
    if (empty == nullptr) empty = &make<rank_list>(0, call);
    return *empty;
  }
  rank_list* const found = groups.find(group);
  if (found == nullptr) refuse("%s: %p is not a group", call, static_cast<void*>(group));
  return *found;
}

namespace {

int rank_in_group(rank_list const& group, int rank, char const* call) {
  if (rank < 0 || rank >= group.size) {
    refuse("%s: rank %d, but the group has %d", call, rank, group.size);
  }
  return rank;
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  kept<rank_list> const& members = communicator_of(comm, "MPI_Comm_group").members;
  ++members->references;
  *group = groups.add(*members);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_group)

int PMPI_Group_incl(MPI_Group group, int n, int const ranks[], MPI_Group* newgroup) {
  constexpr char const* call = "MPI_Group_incl";
  rank_list const& of = group_of(group, call);
  if (n < 0 || n > of.size) refuse("%s: %d ranks of a group of %d", call, n, of.size);
  *newgroup = MPI_GROUP_EMPTY;
  if (n == 0) return MPI_SUCCESS;
  rank_list& made = make<rank_list>(n, call);
  made.size = 0;
  for (int i = 0; i < n; ++i) {
    int const rank = of.world[rank_in_group(of, ranks[i], call)];
    if (made.place_of(rank) != MPI_UNDEFINED) refuse("%s: rank %d comes twice", call, ranks[i]);
    made.world[made.size++] = rank;
  }
  *newgroup = groups.add(made);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Group_incl)

int PMPI_Group_translate_ranks(MPI_Group group1, int n, int const ranks1[], MPI_Group group2,
                               int ranks2[]) {
  constexpr char const* call = "MPI_Group_translate_ranks";
  rank_list const& from = group_of(group1, call);
  rank_list const& to = group_of(group2, call);
  if (n < 0) refuse("%s: a count of %d", call, n);
  for (int i = 0; i < n; ++i) {
    bool const is_nobody = ranks1[i] == MPI_PROC_NULL;
    ranks2[i] =
        is_nobody ? MPI_PROC_NULL : to.place_of(from.world[rank_in_group(from, ranks1[i], call)]);
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Group_translate_ranks)

int PMPI_Group_size(MPI_Group group, int* size) {
  *size = group_of(group, "MPI_Group_size").size;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Group_size)

int PMPI_Group_rank(MPI_Group group, int* rank) {
  *rank = group_of(group, "MPI_Group_rank").place_of(static_cast<int>(rank_in_world));
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Group_rank)

int PMPI_Group_free(MPI_Group* group) {
  group_of(*group, "MPI_Group_free");
  if (*group != MPI_GROUP_EMPTY) release(groups.remove(*group));
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Group_free)

}  // extern "C"
