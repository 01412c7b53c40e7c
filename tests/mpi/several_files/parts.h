// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The parts of a small MPI program of several files. Each part keeps state of one kind across MPI
// calls, changes it in every round, and says at the end whether it is the state that it should be.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// A hash of 64 bits.
uint64_t hash_of(uint64_t x);

// globals.c: large and small globals, initialized and zeroed ones, pointers to them, static locals.
extern uint64_t large_zeroed[20000];
extern uint32_t large_initialized[30000];
extern int small_counter;
void change_globals(int rank, int round);
bool globals_are_right(int rank, int rounds);

// text.c: the state of strtok() and rand(), and a temporary file with a buffer of its own.
bool begin_text(int rank, int rounds);
void continue_text(int round);
bool text_is_right(int rank, int rounds);

// traffic.c: a ring within a part of the ranks, waited for by MPI_Test.
void begin_traffic(void);
bool pass_messages(int round);
void end_traffic(void);
