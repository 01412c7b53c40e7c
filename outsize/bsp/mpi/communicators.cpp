// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "communicators.hpp"

#include <string.h>

#include "exchange.hpp"
#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

handle_table<communicator, MPI_Comm, handle_kind::communicator> communicators;
communicator* world = nullptr;
communicator* self = nullptr;

int* numbers(int count, char const* call) {
  void* const memory = ::malloc(static_cast<std::size_t>(count + 1) * sizeof(int));
  if (memory == nullptr) refuse("%s: no memory for %d numbers", call, count);
  return static_cast<int*>(memory);
}

std::uint64_t ask_for_group(std::uint64_t of, std::uint64_t number, std::int64_t color, int count,
                            int const* ranks) {
  for (int i = 0; i < count; ++i) {
    process::parts_of(*shared, rank_in_world)[i] = {
        .member = static_cast<std::uint64_t>(ranks[i]), .address = 0, .bytes = 0};
  }
  control->part_count = static_cast<std::uint32_t>(count);
  return ask(call::new_group, of, number, color);
}

}  // namespace

rank_list::rank_list(int count, char const* call) : size(count), world(numbers(count, call)) {}

int rank_list::place_of(int rank) const noexcept {
  if (rank < size && world[rank] == rank) return rank;
  for (int i = 0; i < size; ++i) {
    if (world[i] == rank) return i;
  }
  return MPI_UNDEFINED;
}

grid::grid(int dimensions, int const* lengths, int const* are_periodic, char const* call)
    : count(dimensions), length(numbers(2 * dimensions, call)), periodic(length + dimensions) {
  for (int i = 0; i < count; ++i) {
    length[i] = lengths[i];
    periodic[i] = are_periodic[i] != 0 ? 1 : 0;
  }
}

communicator::communicator(std::uint64_t number, kept<rank_list> all)
    : group(number),
      members(std::move(all)),
      rank(members->place_of(static_cast<int>(rank_in_world))),
      size(members->size) {}

communicator::~communicator() { ask(call::drop_group, group); }

void make_first_communicators() {
  rank_list& all = make<rank_list>(static_cast<int>(shared->count), "MPI_Init");
  for (int i = 0; i < all.size; ++i) all.world[i] = i;
  world = &make<communicator>(std::uint64_t{0}, kept<rank_list>::take(all));
  // A group of its own: its color tells it from those of other ranks.
  rank_list& own = make<rank_list>(1, "MPI_Init");
  own.world[0] = static_cast<int>(rank_in_world);
  std::uint64_t const group = ask_for_group(0, UINT64_MAX, rank_in_world, 1, own.world);
  self = &make<communicator>(group, kept<rank_list>::take(own));
}

communicator& communicator_of(MPI_Comm comm, char const* call) {
  check_started(call);
  if (comm == MPI_COMM_WORLD) return *world;
  if (comm == MPI_COMM_SELF) return *self;
  communicator* const found = communicators.find(comm);
  if (found == nullptr) refuse("%s: %p is not a communicator", call, static_cast<void*>(comm));
  return *found;
}

MPI_Comm add_communicator(communicator& made) { return communicators.add(made); }

communicator& make_communicator(communicator const& of, std::uint64_t number, std::int64_t color,
                                kept<rank_list> const& members) {
  temporary const places(static_cast<std::uint64_t>(members->size) * sizeof(int), "MPI_Comm_split");
  int* const ranks = reinterpret_cast<int*>(places.data());
  for (int i = 0; i < members->size; ++i) ranks[i] = of.members->place_of(members->world[i]);
  std::uint64_t const group = ask_for_group(of.group, number, color, members->size, ranks);
  return make<communicator>(group, members);
}

int rank_in(communicator const& comm, int rank, char const* call) {
  if (rank < 0 || rank >= comm.size) {
    refuse("%s: rank %d, but the communicator has %d", call, rank, comm.size);
  }
  return rank;
}

namespace {

struct choice {
  int color, key;
};

/// The choices of all members, of the operation with which they were exchanged.
std::uint64_t exchange_choices(communicator& mine, choice own, choice* all, char const* call) {
  exchange const step(mine, call);
  all[mine.rank] = own;
  step.put_to_all(items_of(&own, 2, MPI_INT, call), mine.rank);
  step.take_each(layout::even(all, 2, MPI_INT, mine.size, call));
  return step.number();
}

/// Those of a color, by key; equal ones by rank.
kept<rank_list> members_of(communicator const& mine, choice const* all, int color,
                           char const* call) {
  rank_list& found = make<rank_list>(mine.size, call);
  int* const ranks = found.world;
  found.size = 0;
  for (int rank = 0; rank < mine.size; ++rank) {
    if (all[rank].color != color) continue;
    int place = found.size++;
    for (; place > 0 && all[ranks[place - 1]].key > all[rank].key; --place) {
      ranks[place] = ranks[place - 1];
    }
    ranks[place] = rank;
  }
  for (int i = 0; i < found.size; ++i) ranks[i] = mine.members->world[ranks[i]];
  return kept<rank_list>::take(found);
}

MPI_Comm split(communicator& mine, choice own, char const* call) {
  if (own.color < 0 && own.color != MPI_UNDEFINED) {
    refuse("%s: color %d is negative", call, own.color);
  }
  temporary const memory(static_cast<std::uint64_t>(mine.size) * sizeof(choice), call);
  auto* const all = reinterpret_cast<choice*>(memory.data());
  std::uint64_t const number = exchange_choices(mine, own, all, call);
  if (own.color == MPI_UNDEFINED) return MPI_COMM_NULL;
  return add_communicator(
      make_communicator(mine, number, own.color, members_of(mine, all, own.color, call)));
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = communicator_of(comm, "MPI_Comm_rank").rank;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_rank)

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  *size = communicator_of(comm, "MPI_Comm_size").size;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_size)

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  *newcomm = split(communicator_of(comm, "MPI_Comm_split"), {color, key}, "MPI_Comm_split");
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_split)

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info /*info*/,
                         MPI_Comm* newcomm) {
  communicator& mine = communicator_of(comm, "MPI_Comm_split_type");
  bool const is_host = split_type == MPI_COMM_TYPE_SHARED;
  if (!is_host && split_type != MPI_UNDEFINED && split_type != MPI_COMM_TYPE_HW_UNGUIDED &&
      split_type != MPI_COMM_TYPE_HW_GUIDED && split_type != MPI_COMM_TYPE_RESOURCE_GUIDED) {
    refuse("MPI_Comm_split_type: %d is not a type of split", split_type);
  }
  *newcomm = split(mine, {is_host ? 0 : MPI_UNDEFINED, key}, "MPI_Comm_split_type");
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_split_type)

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  communicator& mine = communicator_of(comm, "MPI_Comm_dup");
  exchange const step(mine, "MPI_Comm_dup");
  communicator& made = make_communicator(mine, step.number(), 0, mine.members);
  made.topology = mine.topology;
  *newcomm = add_communicator(made);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_dup)

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  constexpr char const* call = "MPI_Comm_create";
  communicator& mine = communicator_of(comm, call);
  rank_list& some = group_of(group, call);
  for (int i = 0; i < some.size; ++i) {
    if (mine.members->place_of(some.world[i]) != MPI_UNDEFINED) continue;
    refuse("%s: rank %d of the group is not in the communicator", call, i);
  }
  exchange const step(mine, call);
  *newcomm = MPI_COMM_NULL;
  if (some.place_of(static_cast<int>(rank_in_world)) == MPI_UNDEFINED) return MPI_SUCCESS;
  // Groups of one call are the same or have no member in common.
  *newcomm = add_communicator(
      make_communicator(mine, step.number(), some.world[0], kept<rank_list>(some)));
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_create)

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  rank_list const& a = *communicator_of(comm1, "MPI_Comm_compare").members;
  rank_list const& b = *communicator_of(comm2, "MPI_Comm_compare").members;
  *result = comm1 == comm2 ? MPI_IDENT : MPI_CONGRUENT;
  if (a.size != b.size) *result = MPI_UNEQUAL;
  for (int i = 0; i < a.size && *result != MPI_UNEQUAL; ++i) {
    if (a.world[i] == b.world[i]) continue;
    *result = b.place_of(a.world[i]) == MPI_UNDEFINED ? MPI_UNEQUAL : MPI_SIMILAR;
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_compare)

int PMPI_Comm_free(MPI_Comm* comm) {
  communicator_of(*comm, "MPI_Comm_free");
  if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) {
    refuse("MPI_Comm_free: a predefined communicator");
  }
  release(communicators.remove(*comm));
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_free)

}  // extern "C"
