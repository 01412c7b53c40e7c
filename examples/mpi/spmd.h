// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The parts that the MPI programs share: arguments, agreement on success, random numbers, blocks of
// an index range, and an exchange of records. Every rank is one process with one thread. The
// programs print on rank 0 alone, and nothing that depends on the order of arrival or of a
// reduction.

#pragma once

#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* program_name = "";
static bool all_checks_passed = true;

static inline int world_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static inline int world_size(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// Prints a line and ends all ranks. For failures that one rank alone may see.
static inline void give_up(const char* format, ...) {
  char line[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s: rank %d: %s\n", program_name, world_rank(), line);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

// Prints a line on rank 0 and ends every rank in order. For failures that all ranks see.
static inline void refuse(const char* format, ...) {
  if (world_rank() == 0) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program_name, line);
  }
  MPI_Finalize();
  exit(2);
}

// An argument of a program: a number, or a word that stands for the number of its place.
typedef struct {
  const char* name;
  int64_t value;  // the default, then the argument
  int64_t least, most;
  const char* const* words;  // for the values 0, 1, ..., then NULL; NULL for a number
} setting;

// Sets one value from its text. Returns false if the text is not valid.
static inline bool read_setting(setting* into, const char* text) {
  if (into->words != NULL) {
    for (int64_t i = 0; into->words[i] != NULL; ++i) {
      if (strcmp(into->words[i], text) != 0) continue;
      into->value = i;
      return true;
    }
    return false;
  }
  char* end = NULL;
  into->value = strtoll(text, &end, 10);
  return end != text && *end == '\0' && into->value >= into->least && into->value <= into->most;
}

// Starts MPI and reads the arguments, which all ranks have alike. Arguments that lack keep their
// default; one that is not valid ends all ranks with one line.
static inline void begin(int* argc, char*** argv, setting* settings, int count) {
  const char* slash = strrchr((*argv)[0], '/');
  program_name = slash != NULL ? slash + 1 : (*argv)[0];
  MPI_Init(argc, argv);
  if (*argc > count + 1) refuse("too many arguments (at most %d)", count);
  for (int i = 0; i + 1 < *argc; ++i) {
    const char* text = (*argv)[i + 1];
    if (read_setting(&settings[i], text)) continue;
    if (settings[i].words != NULL) refuse("'%s' is not a valid %s", text, settings[i].name);
    refuse("'%s' is not valid for %s (%" PRId64 " to %" PRId64 ")", text, settings[i].name,
           settings[i].least, settings[i].most);
  }
}

// Records a check. A failed one is shown at once, and finish() makes it the verdict of all ranks.
static inline void expect(bool holds, const char* claim) {
  if (holds) return;
  fprintf(stderr, "%s: rank %d: does not hold: %s\n", program_name, world_rank(), claim);
  all_checks_passed = false;
}

// Prints the verdict and finalizes MPI. Returns the exit code, the same on all ranks.
static inline int finish(void) {
  int mine = all_checks_passed ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (world_rank() == 0) puts(all != 0 ? "verified" : "FAILED");
  MPI_Finalize();
  return all != 0 ? 0 : 1;
}

// Returns zeroed memory for `count` items; ends the program if there is none.
static inline void* allocate(int64_t count, size_t item_bytes) {
  void* memory = calloc(count > 0 ? (size_t)count : 1, item_bytes);
  if (memory == NULL) give_up("no memory for %" PRId64 " items of %zu bytes", count, item_bytes);
  return memory;
}

// MPI counts and displacements are ints; ends the program if `count` is too large for one.
static inline int to_int(int64_t count) {
  if (count < 0 || count > INT_MAX) give_up("%" PRId64 " items are too many for a message", count);
  return (int)count;
}

static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A bijection of 64 bits that looks random: the output function of SplitMix64 (Steele, Lea, Flood,
// OOPSLA 2014).
static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The random number that belongs to `index`: any rank can compute any of them.
static inline uint64_t random_at(int64_t seed, uint64_t index) {
  return mix(mix((uint64_t)seed) ^ index);
}

// Scales a random number to 0 <= x < bound.
static inline uint64_t below(uint64_t bound, uint64_t random) {
  return (uint64_t)(((unsigned __int128)random * bound) >> 64);
}

// Part `part` of `parts` nearly equal parts of [0, count) begins here and ends where the next
// begins.
static inline int64_t first_of(int64_t count, int64_t parts, int64_t part) {
  return (int64_t)((__int128)count * part / parts);
}

// The part that `index` lies in: the inverse of first_of().
static inline int part_of(int64_t count, int64_t parts, int64_t index) {
  return (int)((((__int128)index + 1) * parts - 1) / count);
}

static inline int64_t sum_of(const int64_t* values, int count) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

static inline int64_t sum_over_ranks(int64_t mine) {
  int64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static inline int64_t largest_over_ranks(int64_t mine) {
  int64_t largest = 0;
  MPI_Allreduce(&mine, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

// A checksum of a distributed set: the sum of hashes modulo 2^64, which no order can change.
static inline uint64_t checksum_over_ranks(uint64_t mine) {
  uint64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Returns a copy of `count` records of `words` words each, ordered by part, stable within a part.
// counts[j] becomes the number of records in part j < `parts`.
static inline uint64_t* arrange(const uint64_t* records, int words, int64_t count,
                                const int* part_of_record, int64_t* counts, int parts) {
  uint64_t* arranged = allocate(count * words, sizeof *arranged);
  int64_t* next = allocate(parts, sizeof *next);
  memset(counts, 0, (size_t)parts * sizeof *counts);
  for (int64_t i = 0; i < count; ++i) ++counts[part_of_record[i]];
  for (int j = 1; j < parts; ++j) next[j] = next[j - 1] + counts[j - 1];
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = next[part_of_record[i]]++;
    memcpy(arranged + place * words, records + i * words, (size_t)words * sizeof *arranged);
  }
  free(next);
  return arranged;
}

// Sets the counts and displacements of a vector collective, in words.
static inline void set_layout(const int64_t* records, int words, int* counts, int* places) {
  int64_t place = 0;
  for (int j = 0; j < world_size(); ++j) {
    counts[j] = to_int(records[j] * words);
    places[j] = to_int(place);
    place += counts[j];
  }
}

// One superstep: sends to[j] records of `words` words each to every rank j. The records lie ordered
// by destination. Returns the received ones, ordered by source; from[i] becomes the number from
// rank i.
static inline uint64_t* exchange(const uint64_t* records, int words, const int64_t* to,
                                 int64_t* from) {
  int size = world_size();
  MPI_Alltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, MPI_COMM_WORLD);
  int* layout = allocate(4 * (int64_t)size, sizeof *layout);
  int *sent = layout, *sent_at = sent + size, *got = sent_at + size, *got_at = got + size;
  set_layout(to, words, sent, sent_at);
  set_layout(from, words, got, got_at);
  uint64_t* received = allocate(sum_of(from, size) * words, sizeof *received);
  MPI_Alltoallv(records, sent, sent_at, MPI_UINT64_T, received, got, got_at, MPI_UINT64_T,
                MPI_COMM_WORLD);
  free(layout);
  return received;
}
