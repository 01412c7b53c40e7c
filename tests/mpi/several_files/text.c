// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// State of the C library: one strtok() and one rand() per round, and a temporary file that is
// written in every round through a buffer on the heap.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

enum { BUFFER_BYTES = 1 << 15 };

static char* sentence;  // cut into words by strtok()
static FILE* file;
static char* buffer;
static uint64_t tokens_hash, drawn_hash;

static uint64_t hash_of_text(uint64_t hash, const char* text) {
  for (; *text != '\0'; ++text) hash = hash_of(hash ^ (uint64_t)(unsigned char)*text);
  return hash;
}

static void format_word(char* into, size_t bytes, int rank, int round) {
  snprintf(into, bytes, "word%d.%d", rank, round * round);
}

// Makes a sentence of one word for each round, different on each rank.
bool begin_text(int rank, int rounds) {
  size_t bytes = 32 * (size_t)rounds + 1;
  sentence = calloc(bytes, 1);
  buffer = malloc(BUFFER_BYTES);
  file = tmpfile();
  if (sentence == NULL || buffer == NULL || file == NULL) return false;
  setvbuf(file, buffer, _IOFBF, BUFFER_BYTES);
  for (int round = 0; round < rounds; ++round) {
    char word[32];
    format_word(word, sizeof word, rank, round);
    strcat(sentence, word);
    strcat(sentence, round % 2 == 0 ? ", " : " ");
  }
  srand((unsigned)rank + 1);
  return true;
}

void continue_text(int round) {
  char* token = strtok(round == 0 ? sentence : NULL, ", ");
  int drawn = rand();
  tokens_hash = hash_of_text(tokens_hash, token == NULL ? "?" : token);
  drawn_hash = hash_of(drawn_hash ^ (uint64_t)drawn);
  fprintf(file, "%d %s %d\n", round, token == NULL ? "?" : token, drawn);
}

static bool file_is_right(int rank, int rounds) {
  rewind(file);
  srand((unsigned)rank + 1);
  for (int round = 0; round < rounds; ++round) {
    char word[32], read_word[32];
    int read_round = -1, read_drawn = -1;
    format_word(word, sizeof word, rank, round);
    if (fscanf(file, "%d %31s %d", &read_round, read_word, &read_drawn) != 3) return false;
    if (read_round != round || strcmp(word, read_word) != 0 || read_drawn != rand()) return false;
  }
  return fscanf(file, "%*s") == EOF;
}

bool text_is_right(int rank, int rounds) {
  uint64_t tokens = 0, drawn = 0;
  srand((unsigned)rank + 1);
  for (int round = 0; round < rounds; ++round) {
    char word[32];
    format_word(word, sizeof word, rank, round);
    tokens = hash_of_text(tokens, word);
    drawn = hash_of(drawn ^ (uint64_t)rand());
  }
  bool right = tokens == tokens_hash && drawn == drawn_hash && file_is_right(rank, rounds);
  fclose(file);
  free(buffer);
  free(sentence);
  return right;
}
