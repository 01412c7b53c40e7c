// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Random point-to-point traffic. All ranks draw the same plan from the seed: a list of steps, each
// with a destination, one or several sources, a communicator, a tag, a type, lengths, a way to send
// and a way to receive. Every rank walks through the plan and does its part of each step.
//
// No deadlock: a rank that waits needs only operations of this step or earlier ones, so the rank
// that is furthest behind can always go on. One result: messages of a pair on a communicator are
// sent and received in the order of the plan, so ANY_TAG gets the right one; a receive with
// ANY_SOURCE has a tag that no other step uses; and hashes of messages are added up, so their order
// does not matter. Every rank knows all messages that it must get, and compares.
//
// Usage: random_messages [SEED [STEPS [LARGEST_MESSAGE_IN_BYTES]]]

#include "../../examples/mpi/spmd.h"

enum { COMMUNICATORS = 4, MOST_PENDING = 24, GUARD = 0xa5, FIRST_UNIQUE_TAG = 100 };

// A communicator with the group and the rank in it of every rank of the world.
typedef struct {
  MPI_Comm handle;
  int *group, *rank_in, size;
} communicator;

static communicator communicators[COMMUNICATORS];

enum { SEND, SSEND, ISEND, ISSEND, SEND_MODES };
enum { RECV, IRECV, PROBE, IPROBE, RECEIVE_MODES };
enum { MESSAGE, SHIFT, NOWHERE, BARRIER };

typedef struct {
  int kind;
  uint64_t id;
  const communicator* on;
  int destination, source;  // ranks of the world
  int distance;             // of a shift
  bool has_several_sources, any_source, any_tag;
  int tag, type, send_mode, receive_mode;
  int64_t largest;
} step;

typedef struct {
  MPI_Request request;
  step of;
  bool is_receive;
  uint8_t* buffer;
  int64_t room;
} operation;

static operation pending[MOST_PENDING];
static int pending_count;
static uint64_t received_hash, expected_hash;
static int64_t received_messages, received_bytes;
static uint64_t plan_state, own_state;  // of the plan's random numbers, and of this rank's

static uint64_t draw(uint64_t* state, uint64_t bound) { return below(bound, mix(++*state)); }

static MPI_Datatype type_of(const step* s) {
  switch (s->type) {
    case 0:
      return MPI_BYTE;
    case 1:
      return MPI_CHAR;
    case 2:
      return MPI_SHORT;
    case 3:
      return MPI_INT;
    case 4:
      return MPI_FLOAT;
    case 5:
      return MPI_LONG;
    case 6:
      return MPI_DOUBLE;
    default:
      return MPI_UINT64_T;
  }
}

static int64_t type_bytes(const step* s) {
  static const int64_t bytes[8] = {1, 1, 2, 4, 4, sizeof(long), 8, 8};
  return bytes[s->type];
}

// Items of the message that `source` sends in a step: mostly few, the logarithm of the length being
// random.
static int64_t items_of(const step* s, int source) {
  uint64_t random = mix(s->id ^ mix((uint64_t)source));
  int bits = 0;
  while ((INT64_C(1) << bits) < s->largest) ++bits;
  int64_t bytes = (int64_t)below(UINT64_C(1) << below((uint64_t)bits + 1, random), mix(random));
  return smaller(bytes, s->largest) / type_bytes(s);
}

static bool is_source(const step* s, int rank) {
  if (s->on->group[rank] != s->on->group[s->destination]) return false;
  if (!s->has_several_sources) return rank == s->source;
  return rank != s->destination && (mix(s->id + mix((uint64_t)rank)) & 3) != 0;
}

static void fill(uint8_t* buffer, int64_t bytes, const step* s, int source) {
  uint64_t key = mix(mix(s->id) ^ (uint64_t)source);
  for (int64_t i = 0; i < bytes; i += 8) {
    uint64_t word = mix(key + (uint64_t)i);
    memcpy(buffer + i, &word, (size_t)smaller(8, bytes - i));
  }
}

static uint64_t hash_of(const uint8_t* buffer, int64_t bytes, const step* s, int source) {
  uint64_t hash = mix(mix(s->id) ^ (uint64_t)source) ^ (uint64_t)bytes;
  for (int64_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    memcpy(&word, buffer + i, (size_t)smaller(8, bytes - i));
    hash = mix(hash ^ word);
  }
  return hash;
}

// Adds a message that this rank must receive.
static void expect_message(const step* s, int source) {
  int64_t bytes = items_of(s, source) * type_bytes(s);
  uint8_t* right = allocate(bytes, 1);
  fill(right, bytes, s, source);
  expected_hash += hash_of(right, bytes, s, source);
  free(right);
}

static int source_in_world(const step* s, int source) {
  for (int rank = 0; rank < world_size(); ++rank)
    if (s->on->group[rank] == s->on->group[world_rank()] && s->on->rank_in[rank] == source)
      return rank;
  give_up("a status names rank %d, which does not exist", source);
  return -1;
}

static void check_received(const step* s, const uint8_t* buffer, int64_t room,
                           const MPI_Status* status) {
  int count = 0, source = source_in_world(s, status->MPI_SOURCE);
  MPI_Get_count(status, type_of(s), &count);
  expect(status->MPI_TAG == s->tag, "the status has the tag of the message");
  expect(count == items_of(s, source), "the status has the length of the message");
  int64_t bytes = count * type_bytes(s);
  bool untouched = true;
  for (int64_t i = bytes; i < room; ++i) untouched = untouched && buffer[i] == GUARD;
  expect(untouched, "bytes behind a short message are left alone");
  received_hash += hash_of(buffer, bytes, s, source);
  received_bytes += bytes;
  ++received_messages;
}

static void end_operation(int index, const MPI_Status* status) {
  operation* o = &pending[index];
  if (o->is_receive) check_received(&o->of, o->buffer, o->room, status);
  free(o->buffer);
  *o = pending[--pending_count];
}

static void wait_for_all(bool by_polling) {
  MPI_Request requests[MOST_PENDING];
  MPI_Status statuses[MOST_PENDING];
  for (int i = 0; i < pending_count; ++i) requests[i] = pending[i].request;
  int done = 0;
  while (by_polling && !done) MPI_Testall(pending_count, requests, &done, statuses);
  if (!by_polling) MPI_Waitall(pending_count, requests, statuses);
  for (int i = pending_count; i-- > 0;) end_operation(i, &statuses[i]);
}

static void wait_for_any(bool by_polling) {
  MPI_Request requests[MOST_PENDING];
  MPI_Status status;
  for (int i = 0; i < pending_count; ++i) requests[i] = pending[i].request;
  int index = MPI_UNDEFINED, done = 0;
  while (by_polling && !done) MPI_Testany(pending_count, requests, &index, &done, &status);
  if (!by_polling) MPI_Waitany(pending_count, requests, &index, &status);
  expect(index >= 0 && index < pending_count && requests[index] == MPI_REQUEST_NULL,
         "a completed request becomes null");
  end_operation(index, &status);
}

static void wait_for_one(bool by_polling) {
  int index = (int)draw(&own_state, (uint64_t)pending_count), done = 0;
  MPI_Status status;
  while (by_polling && !done) MPI_Test(&pending[index].request, &done, &status);
  if (!by_polling) MPI_Wait(&pending[index].request, &status);
  end_operation(index, &status);
}

static void complete_some(int most_left) {
  while (pending_count > most_left) {
    bool by_polling = draw(&own_state, 2) == 0;
    switch (draw(&own_state, 3)) {
      case 0:
        wait_for_all(by_polling);
        break;
      case 1:
        wait_for_any(by_polling);
        break;
      default:
        wait_for_one(by_polling);
    }
  }
}

static operation* new_operation(const step* s, bool is_receive, int64_t bytes, int64_t room) {
  if (pending_count == MOST_PENDING) complete_some(MOST_PENDING / 2);
  operation* o = &pending[pending_count++];
  *o = (operation){MPI_REQUEST_NULL, *s, is_receive, allocate(room, 1), room};
  if (is_receive)
    memset(o->buffer, GUARD, (size_t)room);
  else
    fill(o->buffer, bytes, s, world_rank());
  return o;
}

static void send_message(const step* s) {
  int rank = world_rank(), mode = s->send_mode, to = s->on->rank_in[s->destination];
  if (rank == s->destination && mode < ISEND) mode += ISEND;  // a rank cannot wait for itself
  int64_t items = items_of(s, rank), bytes = items * type_bytes(s);
  int count = to_int(items);
  if (mode == ISEND || mode == ISSEND) {
    operation* o = new_operation(s, false, bytes, bytes);
    (mode == ISEND ? MPI_Isend : MPI_Issend)(o->buffer, count, type_of(s), to, s->tag,
                                             s->on->handle, &o->request);
    return;
  }
  uint8_t* buffer = allocate(bytes, 1);
  fill(buffer, bytes, s, rank);
  (mode == SEND ? MPI_Send : MPI_Ssend)(buffer, count, type_of(s), to, s->tag, s->on->handle);
  free(buffer);
}

static void receive_probed(const step* s, int source, int tag) {
  MPI_Status probed, status;
  int found = 0, count = 0;
  if (s->receive_mode == PROBE) MPI_Probe(source, tag, s->on->handle, &probed);
  while (s->receive_mode == IPROBE && !found)
    MPI_Iprobe(source, tag, s->on->handle, &found, &probed);
  MPI_Get_count(&probed, type_of(s), &count);
  int64_t bytes = count * type_bytes(s);
  uint8_t* buffer = allocate(bytes, 1);
  MPI_Recv(buffer, count, type_of(s), probed.MPI_SOURCE, probed.MPI_TAG, s->on->handle, &status);
  expect(status.MPI_SOURCE == probed.MPI_SOURCE && status.MPI_TAG == probed.MPI_TAG,
         "a probed message is the one received");
  check_received(s, buffer, bytes, &status);
  free(buffer);
}

// Items of the longest message that may match a receive.
static int64_t most_items(const step* s, int from) {
  int64_t most = items_of(s, from);
  for (int rank = 0; s->has_several_sources && rank < world_size(); ++rank)
    if (is_source(s, rank)) most = larger(most, items_of(s, rank));
  return most;
}

static void receive_message(const step* s, int from) {
  int source = s->any_source ? MPI_ANY_SOURCE : s->on->rank_in[from];
  int tag = s->any_tag ? MPI_ANY_TAG : s->tag;
  if (s->receive_mode == PROBE || s->receive_mode == IPROBE) {
    receive_probed(s, source, tag);
    return;
  }
  int64_t slack = (int64_t)draw(&own_state, 2) * (int64_t)draw(&own_state, 50);
  int64_t items = most_items(s, from) + slack;
  int64_t room = items * type_bytes(s);
  int count = to_int(items);
  if (s->receive_mode == IRECV) {
    operation* o = new_operation(s, true, 0, room);
    MPI_Irecv(o->buffer, count, type_of(s), source, tag, s->on->handle, &o->request);
    return;
  }
  MPI_Status status;
  uint8_t* buffer = allocate(room, 1);
  memset(buffer, GUARD, (size_t)room);
  MPI_Recv(buffer, count, type_of(s), source, tag, s->on->handle, &status);
  check_received(s, buffer, room, &status);
  free(buffer);
}

// Room for two requests is made first: a rank that sends to itself must not wait between the two.
static void do_message(const step* s) {
  int rank = world_rank();
  if (pending_count + 2 > MOST_PENDING) complete_some(MOST_PENDING / 2);
  if (is_source(s, rank)) send_message(s);
  if (rank != s->destination) return;
  for (int source = 0; source < world_size(); ++source) {
    if (!is_source(s, source)) continue;
    expect_message(s, source);
    receive_message(s, source);
  }
}

// Every rank of a group sends to the one `distance` ahead.
static void do_shift(const step* s) {
  int rank = world_rank(), here = s->on->rank_in[rank], size = s->on->size;
  int to = (here + s->distance) % size, from = (here + size - s->distance % size) % size;
  int source = source_in_world(s, from);
  int64_t bytes = items_of(s, rank) * type_bytes(s), room = items_of(s, source) * type_bytes(s);
  uint8_t* sent = allocate(bytes, 1);
  uint8_t* received = allocate(room, 1);
  fill(sent, bytes, s, rank);
  expect_message(s, source);
  MPI_Status status;
  MPI_Sendrecv(sent, to_int(items_of(s, rank)), type_of(s), to, s->tag, received,
               to_int(items_of(s, source)), type_of(s), s->any_source ? MPI_ANY_SOURCE : from,
               s->any_tag ? MPI_ANY_TAG : s->tag, s->on->handle, &status);
  check_received(s, received, room, &status);
  free(received);
  free(sent);
}

static void do_nowhere(const step* s) {
  if (world_rank() != s->destination) return;
  char byte = 42;
  int count = -1;
  MPI_Status status;
  MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, s->tag, s->on->handle);
  MPI_Recv(&byte, 1, MPI_CHAR, MPI_PROC_NULL, s->tag, s->on->handle, &status);
  MPI_Get_count(&status, MPI_CHAR, &count);
  expect(byte == 42 && count == 0, "nothing comes from the null process");
  expect(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG,
         "the status names the null process");
}

static void make_communicators(int64_t seed) {
  int rank = world_rank(), size = world_size();
  int order = (int)(random_at(seed, (uint64_t)rank) >> 40);
  int groups[COMMUNICATORS] = {0, 0, rank % 3, 2 * rank < size};
  for (int i = 0; i < COMMUNICATORS; ++i) {
    communicator* c = &communicators[i];
    if (i == 0) c->handle = MPI_COMM_WORLD;
    if (i == 1) MPI_Comm_dup(MPI_COMM_WORLD, &c->handle);
    if (i >= 2) MPI_Comm_split(MPI_COMM_WORLD, groups[i], i == 2 ? -rank : order, &c->handle);
    int rank_in = 0;
    MPI_Comm_rank(c->handle, &rank_in);
    MPI_Comm_size(c->handle, &c->size);
    c->group = allocate(size, sizeof *c->group);
    c->rank_in = allocate(size, sizeof *c->rank_in);
    MPI_Allgather(&groups[i], 1, MPI_INT, c->group, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&rank_in, 1, MPI_INT, c->rank_in, 1, MPI_INT, MPI_COMM_WORLD);
  }
}

static void free_communicators(void) {
  for (int i = 0; i < COMMUNICATORS; ++i) {
    free(communicators[i].group);
    free(communicators[i].rank_in);
    if (i > 0) MPI_Comm_free(&communicators[i].handle);
  }
}

// A rank of the group of `member`.
static int draw_member(const communicator* c, int member) {
  for (;;) {
    int rank = (int)draw(&plan_state, (uint64_t)world_size());
    if (c->group[rank] == c->group[member]) return rank;
  }
}

static step draw_step(int64_t number, int64_t largest) {
  step s = {.id = mix(++plan_state), .largest = largest};
  uint64_t kind = draw(&plan_state, 40);
  s.kind = kind == 0 ? BARRIER : kind == 1 ? NOWHERE : kind <= 5 ? SHIFT : MESSAGE;
  s.on = &communicators[draw(&plan_state, COMMUNICATORS)];
  s.destination = (int)draw(&plan_state, (uint64_t)world_size());
  s.source = draw_member(s.on, s.destination);
  s.distance = (int)draw(&plan_state, 1000);
  s.has_several_sources = s.kind == MESSAGE && draw(&plan_state, 8) == 0;
  s.any_source = s.has_several_sources || draw(&plan_state, 6) == 0;
  s.any_tag = !s.any_source && draw(&plan_state, 4) == 0;
  s.tag = s.any_source ? FIRST_UNIQUE_TAG + (int)(number % 30000)
                       : (int)draw(&plan_state, FIRST_UNIQUE_TAG);
  s.type = (int)draw(&plan_state, 8);
  s.send_mode = (int)draw(&plan_state, SEND_MODES);
  s.receive_mode = (int)draw(&plan_state, RECEIVE_MODES);
  return s;
}

int main(int argc, char** argv) {
  setting settings[] = {{"seed", 1, 0, INT64_MAX, NULL},
                        {"steps", 500, 0, 1 << 30, NULL},
                        {"largest message", 1 << 20, 0, 1 << 30, NULL}};
  begin(&argc, &argv, settings, 3);
  int rank = world_rank(), size = world_size();
  plan_state = mix((uint64_t)settings[0].value);
  own_state = mix(plan_state + (uint64_t)rank);
  make_communicators(settings[0].value);
  for (int64_t i = 0; i < settings[1].value; ++i) {
    step s = draw_step(i, settings[2].value);
    if (s.kind == MESSAGE) do_message(&s);
    if (s.kind == SHIFT) do_shift(&s);
    if (s.kind == NOWHERE) do_nowhere(&s);
    if (s.kind == BARRIER) MPI_Barrier(s.on->handle);
    if (pending_count > 0 && draw(&own_state, 8) == 0) complete_some(pending_count / 2);
  }
  complete_some(0);
  expect(received_hash == expected_hash, "all messages arrived, each once and whole");
  int64_t mine[3] = {received_messages, received_bytes, (int64_t)(received_hash >> 1)};
  int64_t* all = allocate(rank == 0 ? 3 * (int64_t)size : 0, sizeof *all);
  MPI_Gather(mine, 3, MPI_INT64_T, all, 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i)
    printf("rank %d: %" PRId64 " messages, %" PRId64 " bytes, hash %016" PRIx64 "\n", i, all[3 * i],
           all[3 * i + 1], (uint64_t)all[3 * i + 2]);
  free(all);
  free_communicators();
  return finish();
}
