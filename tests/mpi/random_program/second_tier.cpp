// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Steps of level 2 of the random program: operations of the user, groups, persistent and other
// requests, and grids.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "items.hpp"
#include "program.hpp"

namespace random_program {
namespace {

// x -> scale * x + shift modulo 2^64: composition is associative and exact, and does not commute.
struct affine_map {
  std::uint64_t scale, shift;
};

void compose(void* first, void* then, int* count, MPI_Datatype*) {
  auto* one = static_cast<affine_map*>(first);
  auto* two = static_cast<affine_map*>(then);
  for (int i = 0; i < *count; ++i)
    two[i] = {one[i].scale * two[i].scale, two[i].scale * one[i].shift + two[i].shift};
}

constexpr std::uint64_t prime = 4294967291U;

void multiply(void* one, void* two, int* count, MPI_Datatype*) {
  auto* a = static_cast<std::uint64_t*>(one);
  auto* b = static_cast<std::uint64_t*>(two);
  for (int i = 0; i < *count; ++i) b[i] = a[i] % prime * (b[i] % prime) % prime;
}

// An operation and a type of the user's, freed at the end of the scope.
struct user_operation {
  MPI_Op op;
  MPI_Datatype type;
  std::size_t words;  // of an item
  bool is_derived;

  explicit user_operation(scene& s) : type(MPI_UINT64_T), words(1), is_derived(s.group.one_in(2)) {
    MPI_Op_create(is_derived ? compose : multiply, is_derived ? 0 : 1, &op);
    if (!is_derived) return;
    words = 2;
    MPI_Type_contiguous(2, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
  }
  ~user_operation() {
    MPI_Op_free(&op);
    if (is_derived) MPI_Type_free(&type);
  }
  user_operation(user_operation const&) = delete;
  user_operation& operator=(user_operation const&) = delete;

  std::vector<std::uint64_t> draw_items(scene const& s, int count) const {
    random_numbers random = s.data();
    std::vector<std::uint64_t> items(static_cast<std::size_t>(count) * words);
    for (std::uint64_t& word : items) word = random.next();
    return items;
  }
};

void fold_words(scene& s, std::vector<std::uint64_t> const& words) {
  for (std::uint64_t word : words) s.of.fold(word);
}

void user_reduce(scene& s) {
  user_operation by(s);
  int count = s.items(), root = s.group.below(s.on.size);
  bool is_root = s.on.rank == root, in_place = is_root && s.group.one_in(3);
  std::vector<std::uint64_t> mine = by.draw_items(s, count), result(mine.size());
  std::vector<std::uint64_t>& into = in_place ? mine : result;
  MPI_Reduce(in_place ? MPI_IN_PLACE : mine.data(), is_root ? into.data() : nullptr, count, by.type,
             by.op, root, s.on.handle);
  if (is_root) fold_words(s, into);
}

void user_reduce_everywhere(scene& s) {
  user_operation by(s);
  int count = s.items(), kind = s.group.below(3);
  auto call = kind == 0 ? MPI_Allreduce : kind == 1 ? MPI_Scan : MPI_Exscan;
  bool in_place = s.group.one_in(3), has_result = kind < 2 || s.on.rank > 0;
  std::vector<std::uint64_t> mine = by.draw_items(s, count), result(mine.size());
  std::vector<std::uint64_t>& into = in_place ? mine : result;
  call(in_place ? MPI_IN_PLACE : mine.data(), into.data(), count, by.type, by.op, s.on.handle);
  if (has_result) fold_words(s, into);
}

void user_reduce_scatter(scene& s) {
  user_operation by(s);
  int count = s.items(s.on.size);
  std::vector<std::uint64_t> mine = by.draw_items(s, count * s.on.size);
  std::vector<std::uint64_t> result(static_cast<std::size_t>(count) * by.words);
  MPI_Reduce_scatter_block(mine.data(), result.data(), count, by.type, by.op, s.on.handle);
  fold_words(s, result);
}

void reduce_scatter(scene& s) {
  reduction r = draw_reduction(s.group);
  bool in_blocks = s.group.one_in(2), in_place = s.group.one_in(3);
  int block = s.items(s.on.size), all = 0;
  std::vector<int> counts = s.items_of_ranks();
  if (in_blocks) counts.assign(counts.size(), block);
  for (int count : counts) all += count;
  int count = counts[static_cast<std::size_t>(s.on.rank)];
  buffer mine(*r.type, all), result(*r.type, count);
  mine.fill(s.data(), r.kind, s.on.size);
  void const* from = in_place ? MPI_IN_PLACE : mine.data();
  void* into = in_place ? mine.data() : result.data();
  if (in_blocks) {
    MPI_Reduce_scatter_block(from, into, block, r.type->handle, r.op, s.on.handle);
  } else {
    MPI_Reduce_scatter(from, into, counts.data(), r.type->handle, r.op, s.on.handle);
  }
  s.of.fold(in_place ? mine.hash(0, count) : result.hash());
}

// A communicator of a random part of the ranks, in random order.
void communicator_of_group(scene& s) {
  communicator made{MPI_COMM_NULL, 0, -1, 0};
  if (s.on.handle != MPI_COMM_NULL) {
    std::vector<int> ranks = s.group.permutation(s.on.size);
    ranks.resize(static_cast<std::size_t>(1 + s.group.below(s.on.size)));
    int count = static_cast<int>(ranks.size()), size = 0, rank = 0;
    MPI_Group all, some;
    MPI_Comm_group(s.on.handle, &all);
    MPI_Group_incl(all, count, ranks.data(), &some);
    MPI_Group_size(some, &size);
    MPI_Group_rank(some, &rank);
    std::vector<int> places(ranks.size()), translated(ranks.size());
    for (int i = 0; i < count; ++i) places[static_cast<std::size_t>(i)] = i;
    MPI_Group_translate_ranks(some, count, places.data(), all, translated.data());
    check(size == count && translated == ranks, "a group has the chosen ranks");
    MPI_Comm_create(s.on.handle, some, &made.handle);
    made = adopt(made.handle, mix(s.group.next()));
    check((rank == MPI_UNDEFINED) == (made.handle == MPI_COMM_NULL), "members get a communicator");
    check(made.handle == MPI_COMM_NULL || made.rank == rank, "ranks are those of the group");
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    s.of.fold(static_cast<std::uint64_t>(made.rank + 1));
  }
  keep_communicator(s.of, made);
}

void compare_communicators(scene& s) {
  MPI_Comm same, reversed, halves;
  int result = -1;
  MPI_Comm_dup(s.on.handle, &same);
  MPI_Comm_split(s.on.handle, 0, -s.on.rank, &reversed);
  MPI_Comm_split(s.on.handle, s.on.rank % 2, 0, &halves);
  MPI_Comm_compare(s.on.handle, s.on.handle, &result);
  check(result == MPI_IDENT, "a communicator is identical to itself");
  MPI_Comm_compare(s.on.handle, same, &result);
  check(result == MPI_CONGRUENT, "a duplicate is congruent");
  MPI_Comm_compare(s.on.handle, reversed, &result);
  check(result == (s.on.size == 1 ? MPI_CONGRUENT : MPI_SIMILAR), "other order is similar");
  MPI_Comm_compare(s.on.handle, halves, &result);
  check(result == (s.on.size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL), "a half is unequal");
  MPI_Comm_free(&halves);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&same);
}

void split_by_host(scene& s) {
  MPI_Comm host;
  MPI_Comm_split_type(s.on.handle, MPI_COMM_TYPE_SHARED, s.on.rank, MPI_INFO_NULL, &host);
  communicator on = adopt(host, 0);
  check(on.size >= 1 && on.size <= s.on.size && on.rank <= s.on.rank, "a host has some ranks");
  MPI_Barrier(host);
  MPI_Comm_free(&host);
}

void replace(scene& s) {
  item_type const& type = draw_type(s.group);
  int distance = s.group.below(s.on.size), tag = s.group.below(1000), count = s.items();
  buffer data(type, count);
  data.fill(s.data());
  MPI_Sendrecv_replace(data.data(), count, type.handle, (s.on.rank + distance) % s.on.size, tag,
                       (s.on.rank + s.on.size - distance) % s.on.size, tag, s.on.handle,
                       MPI_STATUS_IGNORE);
  s.of.fold(data.hash());
}

// The barrier makes sure that every receive is posted.
void ready_send(scene& s) {
  item_type const& type = draw_type(s.group);
  int to = (s.on.rank + 1) % s.on.size, from = (s.on.rank + s.on.size - 1) % s.on.size;
  int count = s.items(), tag = s.group.below(1000);
  buffer sent(type, count), received(type, count);
  sent.fill(s.data());
  MPI_Request request;
  MPI_Irecv(received.data(), count, type.handle, from, tag, s.on.handle, &request);
  MPI_Barrier(s.on.handle);
  MPI_Rsend(sent.data(), count, type.handle, to, tag, s.on.handle);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  s.of.fold(received.hash());
}

// The same two requests are started several times with other contents.
void persistent_requests(scene& s) {
  item_type const& type = draw_type(s.group);
  int to = (s.on.rank + 1) % s.on.size, from = (s.on.rank + s.on.size - 1) % s.on.size;
  int count = s.items(), tag = s.group.below(1000), rounds = 1 + s.group.below(4);
  buffer sent(type, count), received(type, count);
  MPI_Request requests[2];
  MPI_Send_init(sent.data(), count, type.handle, to, tag, s.on.handle, &requests[0]);
  MPI_Recv_init(received.data(), count, type.handle, from, tag, s.on.handle, &requests[1]);
  for (int round = 0; round < rounds; ++round) {
    sent.fill(s.data());
    if (round % 2 == 0) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(requests[0] != MPI_REQUEST_NULL, "a persistent request stays");
    s.of.fold(received.hash());
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  check(requests[0] == MPI_REQUEST_NULL, "a freed request becomes null");
}

// Completes all requests in batches; returns how many completed.
int complete_in_batches(std::vector<MPI_Request>& requests, bool by_polling) {
  int count = static_cast<int>(requests.size()), completed = 0, batch = 0;
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  while (completed < count) {
    auto call = by_polling ? MPI_Testsome : MPI_Waitsome;
    call(count, requests.data(), &batch, indices.data(), statuses.data());
    check(batch >= (by_polling ? 0 : 1) && completed + batch <= count, "a batch is right");
    for (int i = 0; i < batch; ++i) {
      auto index = static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]);
      check(requests.at(index) == MPI_REQUEST_NULL, "a completed request becomes null");
    }
    completed += batch;
  }
  MPI_Waitsome(count, requests.data(), &batch, indices.data(), statuses.data());
  check(batch == MPI_UNDEFINED, "no request is left");
  return completed;
}

void requests_in_batches(scene& s) {
  item_type const& type = draw_type(s.group);
  pair_items lengths(s, false);
  int tag = s.group.below(1000);
  std::deque<buffer> sent, received;
  std::vector<MPI_Request> requests(static_cast<std::size_t>(2 * s.on.size));
  for (int other = 0; other < s.on.size; ++other) {
    buffer& in = received.emplace_back(type, lengths.between(other, s.on.rank));
    buffer& out = sent.emplace_back(type, lengths.between(s.on.rank, other));
    out.fill(random_numbers(s.data().next() + static_cast<std::uint64_t>(other)));
    auto place = static_cast<std::size_t>(2 * other);
    MPI_Irecv(in.data(), in.items(), type.handle, other, tag, s.on.handle, &requests[place]);
    MPI_Isend(out.data(), out.items(), type.handle, other, tag, s.on.handle, &requests[place + 1]);
  }
  complete_in_batches(requests, s.of.own.one_in(2));
  for (buffer const& b : received) s.of.fold(b.hash());
}

void wait_or_poll(scene& s, MPI_Request& request) {
  int done = 0;
  if (s.of.own.one_in(2)) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

// Messages pass while a barrier is under way.
void barrier_in_background(scene& s) {
  MPI_Request request;
  MPI_Ibarrier(s.on.handle, &request);
  std::uint64_t mine = s.of.state, received = 0;
  MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (s.on.rank + 1) % s.on.size, 7, &received, 1, MPI_UINT64_T,
               (s.on.rank + s.on.size - 1) % s.on.size, 7, s.on.handle, MPI_STATUS_IGNORE);
  wait_or_poll(s, request);
  s.of.fold(received);
}

void alltoallv_in_background(scene& s) {
  item_type const& type = draw_type(s.group);
  pair_items lengths(s, false);
  layout to(lengths.of_rank(s.on.rank), s.of.own), from(lengths.to_rank(s.on.rank), s.of.own);
  buffer sent(type, to.items), received(type, from.items);
  sent.fill(s.data());
  unchanged watch(sent);
  MPI_Request request;
  MPI_Ialltoallv(sent.data(), to.counts.data(), to.places.data(), type.handle, received.data(),
                 from.counts.data(), from.places.data(), type.handle, s.on.handle, &request);
  std::uint64_t sum = 0;
  MPI_Allreduce(&s.of.state, &sum, 1, MPI_UINT64_T, MPI_SUM, s.on.handle);
  wait_or_poll(s, request);
  received.check_gaps(from);
  s.of.fold(received.hash(from) ^ sum);
}

void check_dims(scene& s) {
  int fixed = s.on.size % 2 == 0 && s.group.one_in(2) ? 2 : 0;
  int dims[3] = {0, fixed, 0};
  MPI_Dims_create(s.on.size, 3, dims);
  check(dims[0] * dims[1] * dims[2] == s.on.size, "the grid has all ranks");
  check((fixed == 0 || dims[1] == fixed) && dims[0] >= dims[2], "the grid is as asked for");
}

// A grid of our own dimensions; every rank exchanges a word along one of them.
void grid(scene& s) {
  check_dims(s);
  int high = 1 + s.group.below(s.on.size), wide = 1 + s.group.below(s.on.size / high);
  int dims[2] = {high, wide}, periods[2] = {s.group.below(2), s.group.below(2)};
  int along = s.group.below(2), by = s.group.below(3) - 1;
  MPI_Comm made;
  MPI_Cart_create(s.on.handle, 2, dims, periods, 0, &made);
  check((made == MPI_COMM_NULL) == (s.on.rank >= high * wide), "the first ranks are in the grid");
  if (made == MPI_COMM_NULL) return;
  int coordinates[2] = {-1, -1}, rank = -1, from = -1, to = -1;
  MPI_Cart_coords(made, s.on.rank, 2, coordinates);
  MPI_Cart_rank(made, coordinates, &rank);
  check(rank == s.on.rank && coordinates[0] == rank / wide && coordinates[1] == rank % wide,
        "coordinates are in the order of rows");
  MPI_Cart_shift(made, along, by, &from, &to);
  std::uint64_t mine = s.of.state, received = 0;
  MPI_Sendrecv(&mine, 1, MPI_UINT64_T, to, 3, &received, 1, MPI_UINT64_T, from, 3, made,
               MPI_STATUS_IGNORE);
  s.of.fold(received);
  MPI_Comm_free(&made);
}

[[maybe_unused]] bool const added = add_steps({
    {"alltoallv_in_background", 2, 2, alltoallv_in_background},
    {"barrier_in_background", 2, 1, barrier_in_background},
    {"communicator_of_group", 2, 2, communicator_of_group, true},
    {"compare_communicators", 2, 1, compare_communicators},
    {"grid", 2, 2, grid},
    {"persistent_requests", 2, 2, persistent_requests},
    {"ready_send", 2, 2, ready_send},
    {"reduce_scatter", 2, 3, reduce_scatter},
    {"replace", 2, 2, replace},
    {"requests_in_batches", 2, 3, requests_in_batches},
    {"split_by_host", 2, 1, split_by_host},
    {"user_reduce", 2, 2, user_reduce},
    {"user_reduce_everywhere", 2, 3, user_reduce_everywhere},
    {"user_reduce_scatter", 2, 2, user_reduce_scatter},
});

}  // namespace
}  // namespace random_program
