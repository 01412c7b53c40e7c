// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A program of several files that keeps state everywhere: in large and small globals, static
// locals, the C library, files and the heap. All of it changes in rounds with MPI calls between,
// and is compared at the end with the state that it should be. BYTES is the heap memory of all
// ranks together.
//
// Usage: several_files [BYTES [ROUNDS]]

#include "../../../examples/mpi/spmd.h"
#include "parts.h"

enum { MOST_PIECES = 64, LEAST_PIECE = 4096 };

// Heap memory in pieces of halving lengths.
typedef struct {
  uint64_t* words;
  int64_t count;
} piece;

static piece pieces[MOST_PIECES];
static int piece_count;

static uint64_t word_at(int rank, int number, int64_t index) {
  return hash_of((uint64_t)(rank * MOST_PIECES + number) * 1000000007U + (uint64_t)index);
}

static void allocate_pieces(int rank, int64_t bytes) {
  while (bytes >= (int64_t)sizeof(uint64_t) && piece_count < MOST_PIECES) {
    int64_t part = bytes <= LEAST_PIECE ? bytes : bytes / 2;
    piece* p = &pieces[piece_count];
    p->count = part / (int64_t)sizeof *p->words;
    p->words = malloc((size_t)p->count * sizeof *p->words);
    if (p->words == NULL) give_up("no memory for %" PRId64 " bytes", part);
    for (int64_t i = 0; i < p->count; ++i) p->words[i] = word_at(rank, piece_count, i);
    bytes -= part;
    ++piece_count;
  }
}

static bool piece_is_right(int rank, int number) {
  bool right = true;
  for (int64_t i = 0; i < pieces[number].count; ++i)
    right = right && pieces[number].words[i] == word_at(rank, number, i);
  return right;
}

int main(int argc, char** argv) {
  setting settings[] = {{"bytes", 16 << 20, 0, INT64_C(1) << 44, NULL},
                        {"rounds", 12, 1, 10000, NULL}};
  begin(&argc, &argv, settings, 2);
  int rank = world_rank(), rounds = (int)settings[1].value;
  int64_t bytes = settings[0].value;
  allocate_pieces(rank,
                  first_of(bytes, world_size(), rank + 1) - first_of(bytes, world_size(), rank));
  expect(begin_text(rank, rounds), "there are a temporary file and memory");
  begin_traffic();
  if (rank == 0) fprintf(stderr, "several_files: %d pieces of memory on rank 0\n", piece_count);
  for (int round = 0; round < rounds && all_checks_passed; ++round) {
    change_globals(rank, round);
    continue_text(round);
    expect(pass_messages(round), "messages hold the words of the rank before");
    if (piece_count > 0)
      expect(piece_is_right(rank, round % piece_count), "heap memory keeps its contents");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  end_traffic();
  expect(globals_are_right(rank, rounds), "globals and static locals have their values");
  expect(text_is_right(rank, rounds), "strtok, rand and files have their state");
  for (int i = 0; i < piece_count; ++i) {
    expect(piece_is_right(rank, i), "heap memory keeps its contents");
    free(pieces[i].words);
  }
  uint64_t hash = hash_of(large_zeroed[rank % 20000] ^ (uint64_t)small_counter);
  hash = checksum_over_ranks(hash + large_initialized[12345]);
  if (rank == 0)
    printf("several_files: %" PRId64 " bytes, %d rounds, %d ranks\nchecksum %016" PRIx64 "\n",
           bytes, rounds, world_size(), hash);
  return finish();
}
