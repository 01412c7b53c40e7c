// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/em.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/bsp/allocator.hpp>
#include <outsize/bsp/bsp_error.hpp>
#include <outsize/bsp/detail/arena_heap.hpp>
#include <outsize/bsp/detail/balanced_exchange.hpp>
#include <outsize/bsp/detail/bsp_engine.hpp>
#include <outsize/bsp/detail/fold.hpp>
#include <outsize/bsp/detail/member.hpp>
#include <outsize/bsp/detail/this_processor.hpp>
#include <outsize/bsp/virtual_processors.hpp>

namespace outsize::bsp::detail {

namespace {

/// The state of a processor beside its memory: its communicators, by number.
struct em_face {
  std::vector<std::optional<member>> communicators = std::vector<std::optional<member>>(1);
};

thread_local std::string last_message;

/// Memory that was not to be had: because another processor has failed, or for want of it.
void* checked(void* memory) {
  if (memory != nullptr) return memory;
  board& shared = current_processor().run->shared();
  std::lock_guard const held(shared.mutex);
  if (shared.has_failed()) throw cancelled("virtual processors");
  return nullptr;
}

[[noreturn]] void refuse(char const* call, std::string const& reason) {
  std::uint32_t const rank = current_processor().rank;
  throw bsp_error(rank, fmt::format("virtual processor {}: {}: {}", rank, call, reason));
}

member& member_of(EM_Comm comm, char const* call) {
  auto& all = static_cast<em_face*>(*current_processor().face)->communicators;
  if (comm <= 0 || static_cast<std::size_t>(comm) >= all.size()) {
    refuse(call, fmt::format("{} is not a communicator", comm));
  }
  return *all[static_cast<std::size_t>(comm)];
}

std::uint32_t rank_in(member const& of, int rank, char const* call) {
  if (rank < 0 || static_cast<std::uint32_t>(rank) >= of.count()) {
    refuse(call, fmt::format("there is no rank {} among {}", rank, of.count()));
  }
  return static_cast<std::uint32_t>(rank);
}

number_type type_of(EM_Datatype type, char const* call) {
  switch (type) {
    case EM_BYTE:
      return number_type::byte;
    case EM_CHAR:
    case EM_INT8_T:
      return number_type::int8;
    case EM_SHORT:
    case EM_INT16_T:
      return number_type::int16;
    case EM_INT:
    case EM_INT32_T:
      return number_type::int32;
    case EM_LONG:
      return sizeof(long) == 8 ? number_type::int64 : number_type::int32;
    case EM_INT64_T:
      return number_type::int64;
    case EM_UNSIGNED_CHAR:
    case EM_UINT8_T:
      return number_type::uint8;
    case EM_UNSIGNED_SHORT:
    case EM_UINT16_T:
      return number_type::uint16;
    case EM_UNSIGNED:
    case EM_UINT32_T:
      return number_type::uint32;
    case EM_UNSIGNED_LONG:
      return sizeof(long) == 8 ? number_type::uint64 : number_type::uint32;
    case EM_UINT64_T:
      return number_type::uint64;
    case EM_FLOAT:
      return number_type::float32;
    case EM_DOUBLE:
      return number_type::float64;
    case EM_LONG_DOUBLE:
      return number_type::float_long;
  }
  refuse(call, fmt::format("{} is not a type", static_cast<int>(type)));
}

std::size_t size_of(EM_Datatype type, char const* call) { return bytes_of(type_of(type, call)); }

fold_function fold_for(EM_Op operation, EM_Datatype type, char const* call) {
  constexpr fold_operation operations[] = {fold_operation::max,         fold_operation::min,
                                           fold_operation::sum,         fold_operation::product,
                                           fold_operation::logical_and, fold_operation::logical_or,
                                           fold_operation::logical_xor, fold_operation::bit_and,
                                           fold_operation::bit_or,      fold_operation::bit_xor};
  auto const index = static_cast<std::size_t>(operation);
  fold_function const fold =
      index < std::size(operations) ? fold_of(operations[index], type_of(type, call)) : nullptr;
  if (fold == nullptr) {
    refuse(call,
           fmt::format("operation {} is not defined for type {}", index, static_cast<int>(type)));
  }
  return fold;
}

/// The items of each member in a buffer: `each` of them, or counts at displacements.
struct layout {
  std::byte* buffer;
  std::size_t item_bytes;
  std::int64_t each;
  std::int64_t const* counts = nullptr;
  std::int64_t const* displacements = nullptr;

  std::span<std::byte> of(std::uint32_t member) const {
    std::int64_t const count = counts != nullptr ? counts[member] : each;
    std::int64_t const place = counts != nullptr ? displacements[member] : each * member;
    return {buffer + place * static_cast<std::int64_t>(item_bytes),
            static_cast<std::size_t>(count) * item_bytes};
  }
};

/// The bytes of a buffer. Refuses negative counts, and a buffer in place where there is none.
std::span<std::byte> bytes_of_buffer(void const* buffer, std::int64_t count, EM_Datatype type,
                                     char const* call);

std::byte* bytes_at(void const* buffer) {
  return static_cast<std::byte*>(const_cast<void*>(buffer));
}

std::span<std::byte> bytes_of_buffer(void const* buffer, std::int64_t count, EM_Datatype type,
                                     char const* call) {
  if (count < 0) refuse(call, fmt::format("a count of {}", count));
  if (buffer == EM_IN_PLACE) refuse(call, "EM_IN_PLACE has no meaning here");
  return {bytes_at(buffer), static_cast<std::size_t>(count) * size_of(type, call)};
}

/// The parts of all members, for a function that moves bytes.
template <typename Byte>
std::vector<std::span<Byte>> spans_of(layout const& all, std::uint32_t members) {
  std::vector<std::span<Byte>> spans;
  for (std::uint32_t i = 0; i < members; ++i) spans.emplace_back(all.of(i));
  return spans;
}

/// Refuses negative counts of members.
void check(layout const& all, std::uint32_t members, char const* call) {
  for (std::uint32_t i = 0; i < members; ++i) {
    std::int64_t const count = all.counts != nullptr ? all.counts[i] : all.each;
    if (count < 0) refuse(call, fmt::format("a count of {} for rank {}", count, i));
  }
  if (all.buffer == EM_IN_PLACE) refuse(call, "EM_IN_PLACE has no meaning here");
}

/// A part goes into a buffer that must be as long.
void check_length(incoming const& part, std::span<std::byte const> into, char const* call) {
  if (part.length_bytes() == into.size()) return;
  refuse(call, fmt::format("rank {} sent {} bytes for a buffer of {}", part.source,
                           part.length_bytes(), into.size()));
}

void take(member& mine, incoming const& part, std::span<std::byte> into, char const* call) {
  if (part.length_bytes() != into.size()) mine.drop(part);
  check_length(part, into, call);
  mine.take(part, into);
}

void take_all(member& mine, std::uint64_t number, layout const& into, char const* call) {
  mine.discard(spans_of<std::byte>(into, mine.count()));
  std::vector<incoming> const parts = mine.wait_for_parts(number, mine.count(), call);
  for (incoming const& part : parts) {
    if (part.length_bytes() == into.of(part.source).size()) continue;
    for (incoming const& each : parts) mine.drop(each);
    check_length(part, into.of(part.source), call);
  }
  mine.take_all(parts, [&](std::size_t i) { return into.of(parts[i].source); });
}

int gather(void const* items, std::int64_t count, EM_Datatype type, layout const& all, int root,
           EM_Comm comm, char const* call) {
  member& mine = member_of(comm, call);
  std::uint32_t const to = rank_in(mine, root, call);
  std::uint64_t const number = mine.begin(call, to, size_of(type, call));
  mine.put(number, to, bytes_of_buffer(items, count, type, call));
  if (mine.rank() != to) return EM_SUCCESS;
  check(all, mine.count(), call);
  take_all(mine, number, all, call);
  return EM_SUCCESS;
}

int scatter(layout const& all, void* items, std::int64_t count, EM_Datatype type, int root,
            EM_Comm comm, char const* call) {
  member& mine = member_of(comm, call);
  std::uint32_t const from = rank_in(mine, root, call);
  std::uint64_t const number = mine.begin(call, from, size_of(type, call));
  if (mine.rank() == from) {
    check(all, mine.count(), call);
    mine.put_each(number, spans_of<std::byte const>(all, mine.count()));
  }
  std::span<std::byte> const into = bytes_of_buffer(items, count, type, call);
  take(mine, mine.wait_for_parts(number, 1, call).front(), into, call);
  return EM_SUCCESS;
}

int all_gather(void const* items, std::int64_t count, EM_Datatype type, layout const& all,
               EM_Comm comm, char const* call) {
  member& mine = member_of(comm, call);
  std::uint64_t const number = mine.begin(call, 0, size_of(type, call));
  check(all, mine.count(), call);
  mine.put_to_all(number, bytes_of_buffer(items, count, type, call));
  take_all(mine, number, all, call);
  return EM_SUCCESS;
}

int all_to_all(layout const& out, layout const& in, EM_Comm comm, char const* call) {
  member& mine = member_of(comm, call);
  check(out, mine.count(), call);
  check(in, mine.count(), call);
  std::uint64_t const number = mine.begin(call, 0, out.item_bytes);
  mine.put_each(number, spans_of<std::byte const>(out, mine.count()));
  take_all(mine, number, in, call);
  return EM_SUCCESS;
}

int balanced_all_to_all(layout const& out, layout const& in, EM_Comm comm, char const* call) {
  member& mine = member_of(comm, call);
  check(out, mine.count(), call);
  check(in, mine.count(), call);
  balanced_exchange(mine, call, spans_of<std::byte const>(out, mine.count()),
                    spans_of<std::byte>(in, mine.count()), out.item_bytes);
  return EM_SUCCESS;
}

/// Folds the parts of `senders` members, the first of them as it is, into `result`.
void fold_parts(member& mine, std::uint64_t number, std::size_t senders,
                std::span<std::byte> result, fold_function fold, std::int64_t count,
                char const* call) {
  vector<std::byte> next(result.size());
  bool is_first = true;
  for (incoming const& part : mine.wait_for_parts(number, senders, call)) {
    take(mine, part, is_first ? result : std::span(next), call);
    if (!is_first) fold(result.data(), next.data(), static_cast<std::uint64_t>(count));
    is_first = false;
  }
}

std::string name_of_fold(EM_Op operation, EM_Datatype type) {
  return fmt::format("operation {} of type {}", static_cast<int>(operation),
                     static_cast<int>(type));
}

void reduce(void const* items, void* result, std::int64_t count, EM_Datatype type, EM_Op operation,
            member& mine, std::uint32_t root, char const* call) {
  fold_function const fold = fold_for(operation, type, call);
  if (count < 0) refuse(call, fmt::format("a count of {}", count));
  std::size_t const bytes = static_cast<std::size_t>(count) * size_of(type, call);
  std::uint64_t const number =
      mine.begin(call, root, size_of(type, call), static_cast<std::uint64_t>(count),
                 name_of_fold(operation, type).c_str());
  void const* const own = items == EM_IN_PLACE ? result : items;
  mine.put(number, root, {bytes_at(own), bytes});
  if (mine.rank() != root) return;
  fold_parts(mine, number, mine.count(), {bytes_at(result), bytes}, fold, count, call);
}

/// The fold of the members so far goes from each to the next.
int scan(void const* items, void* result, std::int64_t count, EM_Datatype type, EM_Op operation,
         EM_Comm comm, bool is_inclusive, char const* call) {
  member& mine = member_of(comm, call);
  fold_function const fold = fold_for(operation, type, call);
  if (count < 0) refuse(call, fmt::format("a count of {}", count));
  std::size_t const bytes = static_cast<std::size_t>(count) * size_of(type, call);
  std::uint64_t const number =
      mine.begin(call, 0, size_of(type, call), static_cast<std::uint64_t>(count),
                 name_of_fold(operation, type).c_str());
  std::byte const* const own = bytes_at(items == EM_IN_PLACE ? result : items);
  vector<std::byte> up_to(own, own + bytes);
  vector<std::byte> before;
  if (mine.rank() != 0) {
    before.resize(bytes);
    take(mine, mine.wait_for_parts(number, 1, call).front(), before, call);
    vector<std::byte> both(before);
    fold(both.data(), up_to.data(), static_cast<std::uint64_t>(count));
    up_to = std::move(both);
  }
  if (mine.rank() + 1 < mine.count()) mine.put(number, mine.rank() + 1, up_to);
  vector<std::byte> const& told = is_inclusive ? up_to : before;
  if (!told.empty()) std::memcpy(result, told.data(), bytes);
  return EM_SUCCESS;
}

storage_options storage_for(EM_Options const& options) {
  storage_options made;
  std::string_view rest = options.directories != nullptr ? options.directories : "";
  while (!rest.empty()) {
    std::size_t const end = std::min(rest.find(':'), rest.size());
    if (end != 0) made.disks.emplace_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  made.memory_bytes = options.memory_bytes;
  return made;
}

}  // namespace

}  // namespace outsize::bsp::detail

namespace bsp = outsize::bsp;
using namespace outsize::bsp::detail;  // NOLINT(google-build-using-namespace)

extern "C" {

// ---- runs ----

int EM_Run(int count, void (*program)(void*), void* argument, EM_Options const* options) {
  last_message.clear();
  try {
    EM_Options const chosen = options != nullptr ? *options : EM_Options{};
    outsize::storage store(storage_for(chosen));
    bsp::run(store, static_cast<std::uint32_t>(std::max(count, 0)),
             [&](bsp::processor& p) {
               em_face face;
               face.communicators.emplace_back(p.as_member());
               *current_processor().face = &face;
               program(argument);
             },
             {.context_bytes = chosen.context_bytes,
              .workers = static_cast<std::uint32_t>(std::max(chosen.workers, 0))});
    return EM_SUCCESS;
  } catch (std::exception const& e) {
    last_message = e.what();
    return EM_FAILED;
  }
}

char const* EM_Message(void) { return last_message.c_str(); }

int EM_Init(int* /*argc*/, char*** /*argv*/) { return EM_SUCCESS; }
int EM_Finalize(void) { return EM_SUCCESS; }

int EM_Abort(EM_Comm /*comm*/, int code) { refuse("EM_Abort", fmt::format("code {}", code)); }

double EM_Wtime(void) {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

// ---- communicators ----

int EM_Comm_rank(EM_Comm comm, int* rank) {
  *rank = static_cast<int>(member_of(comm, "EM_Comm_rank").rank());
  return EM_SUCCESS;
}

int EM_Comm_size(EM_Comm comm, int* size) {
  *size = static_cast<int>(member_of(comm, "EM_Comm_size").count());
  return EM_SUCCESS;
}

int EM_Comm_split(EM_Comm comm, int color, int key, EM_Comm* made) {
  member group = member_of(comm, "EM_Comm_split").split(color, key);
  auto& all = static_cast<em_face*>(*current_processor().face)->communicators;
  *made = EM_COMM_NULL;
  if (color == EM_UNDEFINED) return EM_SUCCESS;
  *made = static_cast<EM_Comm>(all.size());
  all.emplace_back(std::move(group));
  return EM_SUCCESS;
}

// ---- memory ----

void* EM_malloc(size_t bytes) { return checked(current_processor().heap->allocate(bytes)); }

void* EM_calloc(size_t count, size_t bytes) {
  return checked(current_processor().heap->allocate_zeroed(count, bytes));
}

void* EM_realloc(void* memory, size_t bytes) {
  return checked(current_processor().heap->reallocate(memory, bytes));
}

void EM_free(void* memory) { free_in_arena(memory); }

void EM_Discard(void* memory, size_t bytes) {
  std::span<std::byte> const all(bytes_at(memory), bytes);
  member_of(EM_COMM_WORLD, "EM_Discard").discard(std::span(&all, 1));
}

// ---- collective operations ----

int EM_Barrier(EM_Comm comm) {
  member_of(comm, "EM_Barrier").barrier();
  return EM_SUCCESS;
}

int EM_Bcast(void* items, int64_t count, EM_Datatype type, int root, EM_Comm comm) {
  member& mine = member_of(comm, "EM_Bcast");
  std::size_t const item_bytes = size_of(type, "EM_Bcast");
  mine.broadcast(bytes_of_buffer(items, count, type, "EM_Bcast"), rank_in(mine, root, "EM_Bcast"),
                 item_bytes);
  return EM_SUCCESS;
}

int EM_Reduce(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
              int root, EM_Comm comm) {
  member& mine = member_of(comm, "EM_Reduce");
  reduce(items, result, count, type, operation, mine, rank_in(mine, root, "EM_Reduce"),
         "EM_Reduce");
  return EM_SUCCESS;
}

int EM_Allreduce(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
                 EM_Comm comm) {
  member& mine = member_of(comm, "EM_Allreduce");
  reduce(items, result, count, type, operation, mine, 0, "EM_Allreduce");
  std::size_t const item_bytes = size_of(type, "EM_Allreduce");
  mine.broadcast({bytes_at(result), static_cast<std::size_t>(count) * item_bytes}, 0, item_bytes);
  return EM_SUCCESS;
}

int EM_Scan(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
            EM_Comm comm) {
  return scan(items, result, count, type, operation, comm, true, "EM_Scan");
}

int EM_Exscan(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
              EM_Comm comm) {
  return scan(items, result, count, type, operation, comm, false, "EM_Exscan");
}

int EM_Gather(void const* items, int64_t count, EM_Datatype type, void* all, int64_t each,
              EM_Datatype all_type, int root, EM_Comm comm) {
  layout const into{bytes_at(all), size_of(all_type, "EM_Gather"), each};
  return gather(items, count, type, into, root, comm, "EM_Gather");
}

int EM_Gatherv(void const* items, int64_t count, EM_Datatype type, void* all,
               int64_t const counts[], int64_t const displacements[], EM_Datatype all_type,
               int root, EM_Comm comm) {
  layout const into{bytes_at(all), size_of(all_type, "EM_Gatherv"), 0, counts, displacements};
  return gather(items, count, type, into, root, comm, "EM_Gatherv");
}

int EM_Scatter(void const* all, int64_t each, EM_Datatype all_type, void* items, int64_t count,
               EM_Datatype type, int root, EM_Comm comm) {
  layout const from{bytes_at(all), size_of(all_type, "EM_Scatter"), each};
  return scatter(from, items, count, type, root, comm, "EM_Scatter");
}

int EM_Scatterv(void const* all, int64_t const counts[], int64_t const displacements[],
                EM_Datatype all_type, void* items, int64_t count, EM_Datatype type, int root,
                EM_Comm comm) {
  layout const from{bytes_at(all), size_of(all_type, "EM_Scatterv"), 0, counts, displacements};
  return scatter(from, items, count, type, root, comm, "EM_Scatterv");
}

int EM_Allgather(void const* items, int64_t count, EM_Datatype type, void* all, int64_t each,
                 EM_Datatype all_type, EM_Comm comm) {
  layout const into{bytes_at(all), size_of(all_type, "EM_Allgather"), each};
  return all_gather(items, count, type, into, comm, "EM_Allgather");
}

int EM_Allgatherv(void const* items, int64_t count, EM_Datatype type, void* all,
                  int64_t const counts[], int64_t const displacements[], EM_Datatype all_type,
                  EM_Comm comm) {
  layout const into{bytes_at(all), size_of(all_type, "EM_Allgatherv"), 0, counts, displacements};
  return all_gather(items, count, type, into, comm, "EM_Allgatherv");
}

int EM_Alltoall(void const* out, int64_t out_each, EM_Datatype out_type, void* in, int64_t in_each,
                EM_Datatype in_type, EM_Comm comm) {
  return all_to_all({bytes_at(out), size_of(out_type, "EM_Alltoall"), out_each},
                    {bytes_at(in), size_of(in_type, "EM_Alltoall"), in_each}, comm, "EM_Alltoall");
}

int EM_Alltoallv(void const* out, int64_t const out_counts[], int64_t const out_displacements[],
                 EM_Datatype out_type, void* in, int64_t const in_counts[],
                 int64_t const in_displacements[], EM_Datatype in_type, EM_Comm comm) {
  return all_to_all(
      {bytes_at(out), size_of(out_type, "EM_Alltoallv"), 0, out_counts, out_displacements},
      {bytes_at(in), size_of(in_type, "EM_Alltoallv"), 0, in_counts, in_displacements}, comm,
      "EM_Alltoallv");
}

int EM_Alltoallv_balanced(void const* out, int64_t const out_counts[],
                          int64_t const out_displacements[], EM_Datatype out_type, void* in,
                          int64_t const in_counts[], int64_t const in_displacements[],
                          EM_Datatype in_type, EM_Comm comm) {
  constexpr char const* call = "EM_Alltoallv_balanced";
  return balanced_all_to_all(
      {bytes_at(out), size_of(out_type, call), 0, out_counts, out_displacements},
      {bytes_at(in), size_of(in_type, call), 0, in_counts, in_displacements}, comm, call);
}

// ---- messages ----

int EM_Send(void const* items, int64_t count, EM_Datatype type, int to, int tag, EM_Comm comm) {
  member& mine = member_of(comm, "EM_Send");
  if (tag < 0) refuse("EM_Send", fmt::format("{} is not a tag", tag));
  mine.send(rank_in(mine, to, "EM_Send"), tag, bytes_of_buffer(items, count, type, "EM_Send"));
  return EM_SUCCESS;
}

int EM_Recv(void* items, int64_t most, EM_Datatype type, int from, int tag, EM_Comm comm,
            EM_Status* status) {
  member& mine = member_of(comm, "EM_Recv");
  std::optional<std::uint32_t> source;
  if (from != EM_ANY_SOURCE) source = rank_in(mine, from, "EM_Recv");
  std::optional<std::int64_t> wanted;
  if (tag != EM_ANY_TAG) wanted = tag;
  std::span<std::byte> const into = bytes_of_buffer(items, most, type, "EM_Recv");
  incoming const message = mine.receive(source, wanted);
  std::uint64_t const length = message.length_bytes();
  if (length > into.size()) {
    mine.drop(message);
    refuse("EM_Recv", fmt::format("rank {} sent {} bytes for a buffer of {} items", message.source,
                                  length, most));
  }
  mine.take(message, into.first(length));
  if (status != nullptr) {
    *status = {static_cast<int>(message.source), static_cast<int>(message.tag),
               static_cast<int64_t>(length)};
  }
  return EM_SUCCESS;
}

}  // extern "C"
