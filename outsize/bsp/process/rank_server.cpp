// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/process/rank_server.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/bsp/bsp_error.hpp>
#include <outsize/bsp/detail/message_prefetch.hpp>

namespace outsize::bsp::process {

namespace {

using detail::message_filter;

void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, nullptr, nullptr,
            0);
}
void wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr,
            nullptr, 0);
}

message_filter filter_of(std::uint64_t group, std::uint64_t source, std::uint64_t tag) {
  return {.group = static_cast<std::uint32_t>(group),
          .source = static_cast<std::int64_t>(source),
          .tag = static_cast<std::int64_t>(tag)};
}

}  // namespace

rank_server::rank_server(detail::engine& run, header& all, std::uint32_t rank)
    : run_(run), all_(all), control_(control_of(all, rank)), rank_(rank) {
  groups_.emplace(0, run.everybody());
}

// ---- turns ----

void rank_server::serve() {
  for (;;) {
    give_turn();
    if (control_.is_dead.load() != 0) return;
    answer();
  }
}

void rank_server::give_turn() {
  if (run_.shared().has_swapped.load()) all_.moves_contents.store(1);
  control_.turn.store(rank_control::process_turn);
  wake(control_.turn);
  while (control_.turn.load() == rank_control::process_turn && control_.is_dead.load() == 0) {
    wait_while(control_.turn, rank_control::process_turn);
  }
}

void rank_server::refuse(char const* reason) const {
  throw bsp_error(rank_, fmt::format("rank {}: {}", rank_, reason));
}

// ---- arguments ----

std::shared_ptr<detail::group> const& rank_server::group_of(std::uint64_t number) const {
  auto const found = groups_.find(number);
  if (found == groups_.end()) refuse("a communicator that does not exist");
  return found->second;
}

std::span<part> rank_server::parts() const noexcept {
  return {parts_of(all_, rank_), std::min<std::size_t>(control_.part_count, all_.part_capacity)};
}

std::vector<detail::message_filter> rank_server::posted() const {
  std::vector<message_filter> all;
  part const* const first = posted_of(all_, rank_);
  for (part const& one : std::span(first, control_.posted_count)) {
    all.push_back(filter_of(one.address, one.member, one.bytes));
  }
  return all;
}

/// Where bytes of the process's arena lie in the engine's memory.
rank_server::pieces rank_server::pieces_at(std::uint64_t address, std::uint64_t bytes) const {
  pieces all;
  std::uint64_t offset = address - control_.arena_begin;
  if (bytes != 0 && (address < control_.arena_begin || offset > all_.arena_bytes ||
                     bytes > all_.arena_bytes - offset)) {
    refuse("a buffer outside of its arena");
  }
  detail::context& mine = run_.context_of(rank_);
  while (bytes != 0) {
    std::size_t const piece = offset / all_.piece_bytes;
    if (piece >= mine.piece_count() || frames_of(all_, rank_)[piece] == 0) {
      refuse("a buffer in memory that was freed");
    }
    std::span<std::byte> const rest = mine.bytes_of(piece).subspan(offset % all_.piece_bytes);
    std::size_t const here = std::min<std::uint64_t>(rest.size(), bytes);
    all.push_back(rest.first(here));
    offset += here;
    bytes -= here;
  }
  return all;
}

// ---- calls ----

void rank_server::answer() {
  run_.post(rank_, posted());
  if (std::exchange(control_.poll_begins, 0) != 0) noted_ = run_.arrivals(rank_);
  std::uint64_t const* const a = control_.arguments;
  std::uint64_t& result = control_.results[0];
  switch (control_.what) {
    case call::enter:
      result = run_.enter(rank_, a[0], a[1]) ? 1 : 0;
      return;
    case call::leave:
      return run_.leave(rank_, a[0], a[1]);
    case call::begin:
      return begin();
    case call::barrier:
      return run_.barrier(rank_, *group_of(a[0]));
    case call::put_parts:
      return put_parts();
    case call::put_to_many:
      return put_to_many();
    case call::wait_parts:
      return wait_parts();
    case call::take_parts:
      return take_parts();
    case call::send:
      return send();
    case call::wait_taken:
      result = run_.is_taken(rank_, a[0], a[1] != 0, "MPI_Ssend") ? 1 : 0;
      return;
    case call::find:
      return find();
    case call::match:
      return match();
    case call::receive:
      return receive();
    case call::has_ended:
      result = has_ended() ? 1 : 0;
      return;
    case call::wait_any:
      return wait_any();
    case call::new_group:
      return new_group();
    case call::drop_group:
      groups_.erase(a[0]);
      return;
    case call::yield:
      return run_.yield(rank_, noted_, "MPI_Test", a[0] != 0);
    case call::none:
      break;
  }
  refuse("a call that does not exist");
}

namespace {

std::string name_of_operation(std::uint64_t number) {
  if (number == 0) return {};
  return number == user_operation ? "an operation of the program"
                                  : fmt::format("operation {:x}", number);
}

detail::awaited_operation operation_of(std::uint64_t group, std::uint64_t number,
                                       std::uint64_t parts) {
  return {.group = static_cast<std::uint32_t>(group), .number = number, .parts = parts};
}

}  // namespace

void rank_server::begin() {
  std::uint64_t const* const a = control_.arguments;
  run_.begin(rank_, *group_of(a[0]), a[1],
             {.name = control_.text,
              .root = static_cast<std::uint32_t>(a[2]),
              .item_bytes = a[3],
              .items = a[4],
              .operation = name_of_operation(a[5]),
              .ends_when_begun = a[6] != 0});
}

/// A buffer of the process, to be sent.
struct rank_server::sent_buffer {
  std::vector<std::span<std::byte const>> places;
  std::uint64_t arena_offset;

  detail::sent_bytes bytes() const noexcept { return {places, arena_offset}; }
};

rank_server::sent_buffer rank_server::buffer_at(std::uint64_t address, std::uint64_t bytes) const {
  pieces const all = pieces_at(address, bytes);
  return {{all.begin(), all.end()}, address - control_.arena_begin};
}

void rank_server::put_parts() {
  std::uint64_t const* const a = control_.arguments;
  std::vector<sent_buffer> buffers;
  std::vector<std::uint32_t> to;
  for (part const& one : parts()) {
    to.push_back(static_cast<std::uint32_t>(one.member));
    buffers.push_back(buffer_at(one.address, one.bytes));
  }
  std::vector<detail::outgoing> all;
  for (std::size_t i = 0; i < to.size(); ++i) {
    all.push_back({std::span(to).subspan(i, 1), buffers[i].bytes()});
  }
  run_.put_parts(rank_, *group_of(a[0]), a[1], static_cast<std::uint32_t>(a[2]), all);
}

void rank_server::put_to_many() {
  std::uint64_t const* const a = control_.arguments;
  std::vector<std::uint32_t> to;
  for (part const& one : parts()) to.push_back(static_cast<std::uint32_t>(one.member));
  sent_buffer const buffer = buffer_at(a[2], a[3]);
  detail::outgoing const all{to, buffer.bytes()};
  run_.put_parts(rank_, *group_of(a[0]), a[1], static_cast<std::uint32_t>(a[4]),
                 std::span(&all, 1));
}

void rank_server::wait_parts() {
  std::uint64_t const* const a = control_.arguments;
  std::vector<detail::incoming> came =
      run_.take_parts(rank_, *group_of(a[0]), a[1], a[2], "a collective operation");
  control_.part_count = static_cast<std::uint32_t>(came.size());
  for (std::size_t i = 0; i < came.size(); ++i) {
    parts()[i] = {came[i].source, 0, came[i].length_bytes()};
  }
  waiting_parts_ = std::move(came);
}

/// Parts go to their places in the order in which they came, as they lie side by side.
void rank_server::take_parts() {
  std::uint64_t const first = control_.arguments[0];
  std::uint64_t const end = first + control_.arguments[1];
  if (end > waiting_parts_.size()) refuse("parts that have not come");
  std::vector<std::size_t> order(end - first);
  std::iota(order.begin(), order.end(), first);
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return waiting_parts_[a].turn < waiting_parts_[b].turn;
  });
  std::vector<detail::message_ticket> messages;
  messages.reserve(order.size());
  for (std::size_t const i : order) messages.push_back(waiting_parts_[i].bytes);
  detail::message_prefetch ahead(run_, std::move(messages));
  part const* const places = parts_of(all_, rank_);
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    ahead.before(turn);
    detail::incoming const& one = waiting_parts_[order[turn]];
    run_.get(one.bytes, pieces_at(places[order[turn]].address, one.length_bytes()));
  }
}

bool rank_server::has_ended() const {
  std::uint64_t const* const a = control_.arguments;
  return run_.has_ended(rank_, operation_of(a[0], a[1], a[2]));
}

void rank_server::wait_any() {
  std::vector<std::uint64_t> receipts;
  std::vector<detail::awaited_operation> operations;
  for (part const& one : parts()) {
    if (one.address == 0) {
      receipts.push_back(one.member);
    } else {
      operations.push_back(operation_of(one.address - 1, one.member, one.bytes));
    }
  }
  run_.wait_for(rank_, posted(), "MPI_Wait", receipts, operations);
}

void rank_server::send() {
  std::uint64_t const* const a = control_.arguments;
  control_.results[0] = run_.send(rank_, *group_of(a[0]), static_cast<std::uint32_t>(a[6]),
                                  static_cast<std::uint32_t>(a[1]), static_cast<std::int64_t>(a[2]),
                                  buffer_at(a[3], a[4]).bytes(), a[5] != 0);
}

void rank_server::find() {
  std::uint64_t const* const a = control_.arguments;
  std::optional<detail::envelope> const found =
      run_.probe(rank_, filter_of(a[0], a[1], a[2]), a[3] != 0, "MPI_Probe");
  control_.results[0] = found ? 1 : 0;
  if (!found) return;
  control_.results[1] = found->source;
  control_.results[2] = static_cast<std::uint64_t>(found->tag);
  control_.results[3] = found->bytes.length_bytes;
}

void rank_server::match() {
  std::vector<std::size_t> const found = run_.matched(rank_);
  control_.part_count =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(found.size(), all_.part_capacity));
  for (std::uint32_t i = 0; i < control_.part_count; ++i) parts()[i].member = found[i];
}

void rank_server::receive() {
  std::uint64_t const* const a = control_.arguments;
  detail::envelope const message = run_.receive(rank_, filter_of(a[0], a[1], a[2]), "MPI_Recv");
  std::uint64_t const length = message.bytes.length_bytes;
  control_.results[1] = message.source;
  control_.results[2] = static_cast<std::uint64_t>(message.tag);
  control_.results[3] = length;
  if (length > a[4]) {
    run_.drop(message.bytes);
    throw bsp_error(rank_,
                    fmt::format("rank {}: a message of {} bytes from rank {}, tag {}, is too "
                                "long for a buffer of {} bytes",
                                rank_, length, message.source, message.tag, a[4]));
  }
  run_.get(message.bytes, pieces_at(a[3], length));
}

void rank_server::new_group() {
  std::uint64_t const* const a = control_.arguments;
  detail::group const& of = *group_of(a[0]);
  std::vector<std::uint32_t> members;
  for (part const& one : parts()) members.push_back(of.members.at(one.member));
  std::shared_ptr<detail::group> const made =
      run_.split(rank_, of, a[1], static_cast<std::int64_t>(a[2]), members);
  groups_.emplace(made->number, made);
  control_.results[0] = made->number;
}

}  // namespace outsize::bsp::process
