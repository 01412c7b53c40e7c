// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Grids of ranks.

#include "communicators.hpp"
#include "exchange.hpp"
#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

grid const& grid_of(communicator const& comm, char const* call) {
  if (!comm.topology) refuse("%s: the communicator has no grid (MPI_Cart_create)", call);
  return *comm.topology;
}

/// The coordinates of a rank: `all` has room for each dimension.
void find_coordinates(grid const& of, int rank, int* all) {
  for (int i = of.count; i-- > 0;) {
    all[i] = rank % of.length[i];
    rank /= of.length[i];
  }
}

/// A coordinate within its dimension if that wraps round; -1: it is outside.
int wrapped(grid const& of, int dimension, std::int64_t coordinate) {
  std::int64_t const length = of.length[dimension];
  if (coordinate >= 0 && coordinate < length) return static_cast<int>(coordinate);
  if (of.periodic[dimension] == 0) return -1;
  return static_cast<int>((coordinate % length + length) % length);
}

/// The rank at a distance in one dimension.
int neighbour(grid const& of, int rank, int dimension, std::int64_t distance) {
  int step = 1;
  for (int i = of.count - 1; i > dimension; --i) step *= of.length[i];
  int const here = rank / step % of.length[dimension];
  int const there = wrapped(of, dimension, here + distance);
  return there < 0 ? MPI_PROC_NULL : rank + (there - here) * step;
}

/// Looks for the most even lengths: those of a product, none greater than the one before.
class even_lengths {
 public:
  /// @param memory  For 2 * count lengths: the first half gets them.
  even_lengths(int product, int count, int* memory)
      : count_(count), best_(memory), chosen_(memory + count) {
    try_from(0, product, product);
  }
  int operator[](int i) const { return best_[i]; }

 private:
  void try_from(int place, int product, int most) {
    if (place == count_ - 1) {
      if (product > most) return;
      chosen_[place] = product;
      int const spread = chosen_[0] - product;
      if (best_spread_ >= 0 && spread >= best_spread_) return;
      best_spread_ = spread;
      for (int i = 0; i < count_; ++i) best_[i] = chosen_[i];
      return;
    }
    for (int length = 1; length <= most && length <= product; ++length) {
      if (product % length != 0 || is_too_little(length, count_ - place, product)) continue;
      chosen_[place] = length;
      try_from(place + 1, product / length, length);
    }
  }
  /// Returns true if `count` factors of this length at most do not make a product.
  static bool is_too_little(int length, int count, int product) {
    std::int64_t reached = 1;
    for (int i = 0; i < count && reached < product; ++i) reached *= length;
    return reached < product;
  }

  int count_;
  int* best_;
  int* chosen_;
  int best_spread_ = -1;
};

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, int const dims[], int const periods[],
                     int /*reorder*/, MPI_Comm* comm_cart) {
  constexpr char const* call = "MPI_Cart_create";
  communicator& mine = communicator_of(comm_old, call);
  if (ndims < 0) refuse("%s: %d dimensions", call, ndims);
  std::int64_t ranks = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] <= 0) refuse("%s: a dimension of length %d", call, dims[i]);
    ranks *= dims[i];
    if (ranks > mine.size) {
      refuse("%s: a grid of %ld ranks and more, but the communicator has %d", call, ranks,
             mine.size);
    }
  }
  exchange const step(mine, call, {.items = static_cast<std::uint64_t>(ranks)});
  *comm_cart = MPI_COMM_NULL;
  if (mine.rank >= ranks) return MPI_SUCCESS;
  rank_list& members = make<rank_list>(static_cast<int>(ranks), call);
  for (int i = 0; i < members.size; ++i) members.world[i] = mine.members->world[i];
  communicator& made = make_communicator(mine, step.number(), 0, kept<rank_list>::take(members));
  made.topology = kept<grid>::take(make<grid>(ndims, dims, periods, call));
  *comm_cart = add_communicator(made);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Cart_create)

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  constexpr char const* call = "MPI_Cart_coords";
  communicator const& mine = communicator_of(comm, call);
  grid const& of = grid_of(mine, call);
  rank_in(mine, rank, call);
  if (maxdims < of.count) refuse("%s: room for %d dimensions of %d", call, maxdims, of.count);
  find_coordinates(of, rank, coords);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Cart_coords)

int PMPI_Cart_rank(MPI_Comm comm, int const coords[], int* rank) {
  constexpr char const* call = "MPI_Cart_rank";
  grid const& of = grid_of(communicator_of(comm, call), call);
  int found = 0;
  for (int i = 0; i < of.count; ++i) {
    int const place = wrapped(of, i, coords[i]);
    if (place < 0) refuse("%s: coordinate %d is outside of its %d", call, coords[i], of.length[i]);
    found = found * of.length[i] + place;
  }
  *rank = found;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Cart_rank)

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  constexpr char const* call = "MPI_Cart_shift";
  communicator const& mine = communicator_of(comm, call);
  grid const& of = grid_of(mine, call);
  if (direction < 0 || direction >= of.count) {
    refuse("%s: direction %d, but the grid has %d dimensions", call, direction, of.count);
  }
  *rank_source = neighbour(of, mine.rank, direction, -static_cast<std::int64_t>(disp));
  *rank_dest = neighbour(of, mine.rank, direction, disp);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Cart_shift)

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  constexpr char const* call = "MPI_Dims_create";
  check_started(call);
  if (nnodes < 1 || ndims < 0) refuse("%s: %d nodes, %d dimensions", call, nnodes, ndims);
  int open = 0;
  std::int64_t product = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 0) refuse("%s: a dimension of length %d", call, dims[i]);
    if (dims[i] == 0) ++open;
    if (dims[i] != 0 && product <= nnodes) product *= dims[i];
  }
  if (nnodes % product != 0 || (open == 0 && product != nnodes)) {
    refuse("%s: %d nodes do not divide into dimensions of %ld", call, nnodes, product);
  }
  if (open == 0) return MPI_SUCCESS;
  temporary const memory(static_cast<std::uint64_t>(2 * open) * sizeof(int), call);
  even_lengths const lengths(nnodes / static_cast<int>(product), open,
                             reinterpret_cast<int*>(memory.data()));
  int next = 0;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) dims[i] = lengths[next++];
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Dims_create)

}  // extern "C"
