// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The state of a random SPMD program, and the list of its steps. All ranks run the same steps in
// the same order: `shared` and the numbers of a group are the same on all members. Each rank has a
// state, a hash of everything that it has received, and the data that it sends is made from this
// state, so one wrong byte changes all that follows. Nothing depends on the order of arrival or of
// folding.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace random_program {

/// The output function of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed = 0) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(++state_); }
  int below(int bound) {
    return static_cast<int>((next() >> 32) * static_cast<std::uint64_t>(bound) >> 32);
  }
  bool one_in(int chances) { return below(chances) == 0; }
  /// Skewed: the logarithm of the number is random.
  int skewed(int bound) {
    int bits = 0;
    while (bits < 30 && (1 << bits) < bound) ++bits;
    int number = below(1 << below(bits + 1));
    return number < bound ? number : bound - 1;
  }
  std::vector<int> permutation(int size);

 private:
  std::uint64_t state_;
};

/// A communicator; the handle is null where this rank is not a member. All members know it by the
/// same identity.
struct communicator {
  MPI_Comm handle;
  std::uint64_t identity;
  int rank, size;
};

communicator adopt(MPI_Comm handle, std::uint64_t identity);

/// Memory whose bytes are checked when it is freed.
struct block {
  std::byte* memory;
  std::size_t bytes;
  std::uint64_t seed;
};

struct program {
  random_numbers shared, own;
  std::uint64_t state;
  std::vector<communicator> communicators;  // the first one is the world
  std::vector<block> blocks;
  std::size_t block_bytes = 0;

  void fold(std::uint64_t received) { state = mix(state ^ received); }
};

/// The view of a step: its communicator, and numbers that all members of it draw alike.
struct scene {
  program& of;
  communicator on;
  random_numbers group;
  int number;  // of the step among those of all seeds

  /// Numbers for the data of this rank.
  random_numbers data() const { return random_numbers(of.state ^ mix(on.identity)); }
  /// A number of items, mostly small; for messages to each of `parts` ranks.
  int items(int parts = 1);
  /// A number of items for each rank; some have none.
  std::vector<int> items_of_ranks();
  /// A tag that no other step has, so that no message of another step can match it.
  int own_tag() const { return 1000 + number % 30000; }
};

/// A step of some level: 1 uses the first tier of functions only, 2 the second one too. It runs on
/// the members of a communicator; one that changes the list of communicators runs on all ranks.
struct step {
  char const* name;
  int level;
  int weight;
  void (*run)(scene&);
  bool on_all_ranks = false;
};

/// Adds steps to the list. Used by static initializers, so a program has the steps of the files
/// that it is linked from.
bool add_steps(std::vector<step> const& more);

/// All steps up to a level, ordered by name.
std::vector<step> steps_up_to(int level);

/// Ends all ranks with one line if a claim does not hold.
void check(bool holds, char const* claim);

/// Adds a communicator to the list; a full list drops one of them first. Runs on all ranks.
void keep_communicator(program& p, communicator const& made);
/// Frees a communicator, with its place in the list. Runs on all ranks.
void drop_communicator(program& p, std::size_t index);
/// Checks and frees a block.
void drop_block(program& p, std::size_t index);

}  // namespace random_program
