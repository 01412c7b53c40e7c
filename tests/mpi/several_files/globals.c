// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Globals of all kinds: both large arrays exceed 64 KiB.

#include <string.h>

#include "parts.h"

enum { ZEROED = 20000, INITIALIZED = 30000 };

uint64_t large_zeroed[ZEROED];
uint32_t large_initialized[INITIALIZED] = {1, 2, 3, [INITIALIZED - 1] = 4};
int small_counter = 7;
static char label[16] = "round 0";
static uint64_t* into_the_middle = &large_zeroed[777];
static const char* const names[] = {"even", "odd"};

uint64_t hash_of(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185U;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44dU;
  return x ^ (x >> 33);
}

// Counts its calls in a static local.
static int calls_so_far(void) {
  static int calls = 0;
  return ++calls;
}

static uint64_t word_for(int rank, int round, uint64_t index) {
  return hash_of(index + 1000003U * (uint64_t)rank + 7919U * (uint64_t)round);
}

void change_globals(int rank, int round) {
  for (uint64_t i = 0; i < ZEROED; ++i) large_zeroed[i] += word_for(rank, round, i);
  for (uint64_t i = 0; i < INITIALIZED; ++i) large_initialized[i] += (uint32_t)(rank + round);
  small_counter += round;
  into_the_middle += round % 2 == 0 ? 5 : -5;
  strcpy(label, names[round % 2]);
  calls_so_far();
}

static uint32_t initial(uint64_t i) {
  return i < 3 ? (uint32_t)i + 1 : i == INITIALIZED - 1 ? 4 : 0;
}

static bool arrays_are_right(int rank, int rounds) {
  bool right = true;
  uint32_t added = (uint32_t)(rounds * rank + rounds * (rounds - 1) / 2);
  for (uint64_t i = 0; i < INITIALIZED; ++i)
    right = right && large_initialized[i] == initial(i) + added;
  for (uint64_t i = 0; i < ZEROED; ++i) {
    uint64_t sum = 0;
    for (int round = 0; round < rounds; ++round) sum += word_for(rank, round, i);
    right = right && large_zeroed[i] == sum;
  }
  return right;
}

bool globals_are_right(int rank, int rounds) {
  bool right = arrays_are_right(rank, rounds);
  right = right && small_counter == 7 + rounds * (rounds - 1) / 2;
  right = right && into_the_middle == &large_zeroed[777 + (rounds % 2 == 0 ? 0 : 5)];
  right = right && strcmp(label, names[(rounds - 1) % 2]) == 0;
  return right && calls_so_far() == rounds + 1;
}
