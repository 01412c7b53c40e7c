// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Runs random SPMD programs, one for each seed, and prints a hash of the states of all ranks after
// each one, and those of all ranks at the end. The output depends on the arguments and the number
// of ranks only: two implementations of MPI must print the same bytes.
//
// Usage: program [FIRST_SEED [SEEDS [LEVEL [STEPS [trace]]]]]
// Level 1 uses the first tier of functions, level 2 also those of second_tier.cpp, if linked in.
// `trace` names every step on stderr, with a hash of the states of all ranks after it.

#include "program.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

namespace random_program {
namespace {

std::vector<step>& all_steps() {
  static std::vector<step> list;
  return list;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::uint64_t current_seed = 0;
int current_step = 0;
int steps_so_far = 0;  // of all seeds: a fast rank may be in the next one
char const* current_name = "";

struct arguments {
  std::int64_t first_seed = 1, seeds = 10, level = 1, steps = 100;
  bool trace = false;
  std::string refused;
};

arguments read_arguments(int argc, char** argv) {
  arguments result;
  std::int64_t* numbers[] = {&result.first_seed, &result.seeds, &result.level, &result.steps};
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    if (i == 5 && std::strcmp(argv[i], "trace") == 0) {
      result.trace = true;
    } else if (i > 4 || (*numbers[i - 1] = std::strtoll(argv[i], &end, 10)) < 0 || end == argv[i] ||
               *end != 0) {
      result.refused = std::string("'") + argv[i] + "' is not a valid argument";
      return result;
    }
  }
  if (result.level < 1 || result.level > 2) {
    result.refused = "the level must be 1 or 2";
  } else if (result.level == 2 && steps_up_to(2).size() == steps_up_to(1).size()) {
    result.refused = "built without second_tier.cpp";
  }
  return result;
}

// Draws a step and the communicator that all its groups run it on.
void run_step(program& p, std::vector<step> const& steps) {
  int weights = 0;
  for (step const& s : steps) weights += s.weight;
  int drawn = p.shared.below(weights);
  auto chosen = steps.begin();
  while (drawn >= chosen->weight) drawn -= (chosen++)->weight;
  auto place = static_cast<std::size_t>(p.shared.below(static_cast<int>(p.communicators.size())));
  std::uint64_t number = p.shared.next();
  ++steps_so_far;
  communicator on = p.communicators[place];
  current_name = chosen->name;
  if (!chosen->on_all_ranks && on.handle == MPI_COMM_NULL) return;
  scene s{p, on, random_numbers(number ^ on.identity), steps_so_far};
  chosen->run(s);
}

// The states of all ranks, on rank 0.
std::vector<std::uint64_t> gather(std::uint64_t state) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<std::uint64_t> states(static_cast<std::size_t>(size));
  MPI_Gather(&state, 1, MPI_UINT64_T, states.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return states;
}

std::uint64_t gather_hash(std::uint64_t state) {
  std::uint64_t together = 0;
  for (std::uint64_t one : gather(state)) together = mix(together ^ one);
  return together;
}

void trace_step(std::uint64_t state) {
  std::uint64_t together = gather_hash(state);
  if (world_rank() == 0)
    std::fprintf(stderr, "seed %" PRIu64 " step %d: %s %016" PRIx64 "\n", current_seed,
                 current_step, current_name, together);
}

// One program; returns the state of this rank at its end.
std::uint64_t run_seed(std::uint64_t seed, arguments const& given) {
  auto rank = static_cast<std::uint64_t>(world_rank());
  program p{random_numbers(seed), random_numbers(mix(seed) + rank), mix(mix(seed) ^ rank), {}, {}};
  p.communicators.push_back(adopt(MPI_COMM_WORLD, seed));
  std::vector<step> steps = steps_up_to(static_cast<int>(given.level));
  current_seed = seed;
  for (current_step = 0; current_step < given.steps; ++current_step) {
    run_step(p, steps);
    if (given.trace) trace_step(p.state);
  }
  current_name = "end";
  while (p.communicators.size() > 1) drop_communicator(p, p.communicators.size() - 1);
  while (!p.blocks.empty()) drop_block(p, p.blocks.size() - 1);
  return p.state;
}

int run(arguments const& given) {
  bool prints = world_rank() == 0;
  std::uint64_t all_seeds = 0;
  for (std::int64_t i = 0; i < given.seeds; ++i) {
    auto seed = static_cast<std::uint64_t>(given.first_seed + i);
    std::uint64_t state = run_seed(seed, given), together = gather_hash(state);
    all_seeds = mix(all_seeds ^ state);
    if (prints) std::printf("seed %" PRIu64 ": %016" PRIx64 "\n", seed, together);
  }
  std::vector<std::uint64_t> states = gather(all_seeds);
  for (std::size_t rank = 0; prints && rank < states.size(); ++rank)
    std::printf("rank %zu: %016" PRIx64 "\n", rank, states[rank]);
  if (prints) std::puts("verified");
  return 0;
}

}  // namespace

std::vector<int> random_numbers::permutation(int size) {
  std::vector<int> result(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    int other = below(i + 1);
    result[static_cast<std::size_t>(i)] = result[static_cast<std::size_t>(other)];
    result[static_cast<std::size_t>(other)] = i;
  }
  return result;
}

communicator adopt(MPI_Comm handle, std::uint64_t identity) {
  communicator result{handle, identity, -1, 0};
  if (handle == MPI_COMM_NULL) return result;
  MPI_Comm_rank(handle, &result.rank);
  MPI_Comm_size(handle, &result.size);
  return result;
}

int scene::items(int parts) {
  if (group.one_in(8)) return 0;
  int most = group.one_in(20) ? 1 << 17 : 1 << 11;
  return group.skewed(most) / (parts > 1 ? parts : 1) + group.below(2);
}

std::vector<int> scene::items_of_ranks() {
  std::vector<int> result(static_cast<std::size_t>(on.size));
  for (int& count : result) count = items(on.size);
  return result;
}

bool add_steps(std::vector<step> const& more) {
  all_steps().insert(all_steps().end(), more.begin(), more.end());
  return true;
}

std::vector<step> steps_up_to(int level) {
  std::vector<step> result;
  std::copy_if(all_steps().begin(), all_steps().end(), std::back_inserter(result),
               [level](step const& s) { return s.level <= level; });
  std::sort(result.begin(), result.end(),
            [](step const& a, step const& b) { return std::strcmp(a.name, b.name) < 0; });
  return result;
}

void check(bool holds, char const* claim) {
  if (holds) return;
  std::fprintf(stderr, "random_program: seed %" PRIu64 " step %d (%s) rank %d: does not hold: %s\n",
               current_seed, current_step, current_name, world_rank(), claim);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace random_program

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  random_program::arguments given = random_program::read_arguments(argc, argv);
  if (!given.refused.empty()) {
    if (random_program::world_rank() == 0)
      std::fprintf(stderr, "random_program: %s\n", given.refused.c_str());
    MPI_Finalize();
    return 2;
  }
  int code = random_program::run(given);
  MPI_Finalize();
  return code;
}
