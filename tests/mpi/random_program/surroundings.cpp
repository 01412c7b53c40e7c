// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Steps of the random program beside messages: communicators that come and go, memory whose
// contents must survive, and questions to MPI about itself.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "program.hpp"

namespace random_program {
namespace {

constexpr std::size_t most_communicators = 6;
constexpr int most_block_bytes = 1 << 20;
constexpr std::size_t most_bytes = 4 << 20;  // of all blocks of a rank

std::size_t draw_communicator(program& p) {
  return 1 + static_cast<std::size_t>(p.shared.below(static_cast<int>(p.communicators.size()) - 1));
}

void duplicate(scene& s) {
  communicator made{MPI_COMM_NULL, mix(s.on.identity + 1), -1, 0};
  if (s.on.handle != MPI_COMM_NULL) {
    MPI_Comm_dup(s.on.handle, &made.handle);
    made = adopt(made.handle, mix(s.group.next()));
    check(made.rank == s.on.rank && made.size == s.on.size, "a duplicate has the same ranks");
  }
  keep_communicator(s.of, made);
}

// Some ranks take no part; keys are random and sometimes equal.
void split(scene& s) {
  communicator made{MPI_COMM_NULL, 0, -1, 0};
  if (s.on.handle != MPI_COMM_NULL) {
    std::uint64_t number = s.group.next();
    random_numbers mine(number + static_cast<std::uint64_t>(s.on.rank));
    int color = mine.one_in(6) ? MPI_UNDEFINED : mine.below(3);
    MPI_Comm_split(s.on.handle, color, mine.below(5) - 2, &made.handle);
    check((made.handle == MPI_COMM_NULL) == (color == MPI_UNDEFINED), "no color, no communicator");
    made = adopt(made.handle, mix(number ^ static_cast<std::uint64_t>(color)));
    s.of.fold(static_cast<std::uint64_t>(made.rank + made.size * 1000));
  }
  keep_communicator(s.of, made);
}

void release(scene& s) {
  if (s.of.communicators.size() > 1) drop_communicator(s.of, draw_communicator(s.of));
}

std::byte byte_of(block const& b, std::size_t i) {
  return static_cast<std::byte>(mix(b.seed + i / 8) >> (i % 8 * 8));
}

void fill_from(block& b, std::size_t first) {
  for (std::size_t i = first; i < b.bytes; ++i) b.memory[i] = byte_of(b, i);
}

void check_block(block const& b) {
  bool right = true;
  for (std::size_t i = 0; i < b.bytes; ++i) right = right && b.memory[i] == byte_of(b, i);
  check(right, "memory keeps its contents");
}

void allocate_memory(scene& s) {
  block b{nullptr, static_cast<std::size_t>(s.of.own.skewed(most_block_bytes)) + 1,
          s.of.own.next()};
  while (s.of.block_bytes + b.bytes > most_bytes) drop_block(s.of, 0);
  bool is_zeroed = s.of.own.one_in(3);
  void* memory = is_zeroed ? std::calloc(b.bytes, 1) : std::malloc(b.bytes);
  check(memory != nullptr, "there is memory");
  b.memory = static_cast<std::byte*>(memory);
  bool right = true;
  for (std::size_t i = 0; is_zeroed && i < b.bytes; ++i)
    right = right && b.memory[i] == std::byte{};
  check(right, "calloc zeroes its memory");
  fill_from(b, 0);
  s.of.block_bytes += b.bytes;
  s.of.blocks.push_back(b);
}

void change_size(scene& s) {
  if (s.of.blocks.empty()) return;
  auto index = static_cast<std::size_t>(s.of.own.below(static_cast<int>(s.of.blocks.size())));
  block& b = s.of.blocks[index];
  std::size_t before = b.bytes;
  auto after = static_cast<std::size_t>(s.of.own.skewed(most_block_bytes)) + 1;
  void* memory = std::realloc(b.memory, after);
  check(memory != nullptr, "there is memory");
  b.memory = static_cast<std::byte*>(memory);
  b.bytes = after < before ? after : before;
  check_block(b);
  b.bytes = after;
  fill_from(b, after < before ? after : before);
  s.of.block_bytes += after - before;
}

void free_memory(scene& s) {
  if (s.of.blocks.empty()) return;
  drop_block(s.of, static_cast<std::size_t>(s.of.own.below(static_cast<int>(s.of.blocks.size()))));
}

void ask(scene& s) {
  static double last_time = 0;
  int rank = -1, size = -1, initialized = 0, finalized = 1, length = 0;
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  MPI_Comm_rank(s.on.handle, &rank);
  MPI_Comm_size(s.on.handle, &size);
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  MPI_Get_processor_name(name, &length);
  double now = MPI_Wtime();
  check(rank == s.on.rank && size == s.on.size, "rank and size do not change");
  check(initialized != 0 && finalized == 0, "MPI is initialized and not finalized");
  check(length > 0 && std::strlen(name) == static_cast<std::size_t>(length),
        "a processor has a name");
  check(now >= last_time && MPI_Wtick() > 0, "time does not go back");
  last_time = now;
}

[[maybe_unused]] bool const added = add_steps({
    {"allocate_memory", 1, 6, allocate_memory},
    {"ask", 1, 1, ask},
    {"change_size", 1, 2, change_size},
    {"communicator_dup", 1, 1, duplicate, true},
    {"communicator_free", 1, 1, release, true},
    {"communicator_split", 1, 3, split, true},
    {"free_memory", 1, 3, free_memory},
});

}  // namespace

void keep_communicator(program& p, communicator const& made) {
  if (p.communicators.size() == most_communicators) drop_communicator(p, draw_communicator(p));
  p.communicators.push_back(made);
}

void drop_communicator(program& p, std::size_t index) {
  communicator& dropped = p.communicators[index];
  if (dropped.handle != MPI_COMM_NULL) MPI_Comm_free(&dropped.handle);
  check(dropped.handle == MPI_COMM_NULL, "a freed communicator becomes null");
  p.communicators.erase(p.communicators.begin() + static_cast<std::ptrdiff_t>(index));
}

void drop_block(program& p, std::size_t index) {
  check_block(p.blocks[index]);
  p.block_bytes -= p.blocks[index].bytes;
  std::free(p.blocks[index].memory);
  p.blocks.erase(p.blocks.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace random_program
