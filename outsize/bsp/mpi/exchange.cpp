// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "exchange.hpp"

#include <string.h>

#include "exposed_items.hpp"

namespace outsize::bsp::mpi {

namespace {

using process::part;

// Parts are packed and unpacked, and folded, in batches of no more, or one by one.
constexpr std::uint64_t batch_bytes = std::uint64_t{1} << 20;

part* parts() { return process::parts_of(*shared, rank_in_world); }

/// The first parts from `first` on that are in place, or fit into a batch; at least one. Not that
/// of `without`.
struct batch {
  batch(int first, layout const& all, int without) : end(first) {
    for (; end < all.size(); ++end) {
      if (end == without) continue;
      items const& one = all.at(end);
      if (one.bytes() == 0 || address_in_place(one) != 0) continue;
      if (packed_bytes != 0 && packed_bytes + one.bytes() > batch_bytes) return;
      packed_bytes += one.bytes();
    }
  }

  int end;
  std::uint64_t packed_bytes = 0;
};

/// Returns true if a part is packed.
bool is_packed(items const& one) { return one.bytes() != 0 && address_in_place(one) == 0; }

}  // namespace

exchange::exchange(communicator& comm, char const* call, agreed const& with)
    : comm_(comm), call_(call), number_(comm.next_number++) {
  rank_in(comm, with.root, call);
  // Both forms of a function are the same operation.
  std::size_t const length = ::strlen(call);
  bool const is_large = length > 2 && ::strcmp(call + length - 2, "_c") == 0;
  std::size_t const shown = is_large ? length - 2 : length;
  ::memcpy(control->text, call, shown);
  control->text[shown] = '\0';
  ask(call::begin, comm.group, number_, with.root, with.item_bytes, with.items, with.fold,
      with.ends_when_begun ? 1 : 0);
}

// ---- puts ----

void exchange::put(int to, items const& from) const {
  outgoing_items const there(from, call_);
  parts()[0] = {
      .member = static_cast<std::uint64_t>(to), .address = there.address(), .bytes = there.bytes()};
  control->part_count = 1;
  ask(call::put_parts, comm_->group, number_, comm_->rank);
}

void exchange::put_to_some(items const& from, int first, int end, int without) const {
  outgoing_items const there(from, call_);
  std::uint32_t count = 0;
  for (int to = first; to < end; ++to) {
    if (to != without) parts()[count++].member = static_cast<std::uint64_t>(to);
  }
  control->part_count = count;
  ask(call::put_to_many, comm_->group, number_, there.address(), there.bytes(), comm_->rank);
}

void exchange::put_each(layout const& out, int without) const {
  for (int first = 0; first < out.size();) first = put_some(first, out, without);
}

int exchange::put_some(int first, layout const& out, int without) const {
  batch const some(first, out, without);
  temporary const packed(some.packed_bytes, call_);
  std::byte* place = packed.data();
  std::uint32_t count = 0;
  for (int to = first; to < some.end; ++to) {
    if (to == without) continue;
    items const& one = out.at(to);
    part& there = parts()[count++];
    there = {.member = static_cast<std::uint64_t>(to),
             .address = one.bytes() == 0 ? 0 : address_in_place(one),
             .bytes = one.bytes()};
    if (!is_packed(one)) continue;
    pack(one, place);
    there.address = reinterpret_cast<std::uint64_t>(place);
    place += one.bytes();
  }
  control->part_count = count;
  ask(call::put_parts, comm_->group, number_, comm_->rank);
  return some.end;
}

void exchange::keep(items const& from, items const& into) const {
  check_length(rank(), from.bytes(), into.bytes());
  if (from.bytes() == 0) return;
  if (from.is_dense()) {
    unpack(static_cast<std::byte const*>(from.first()), from.bytes(), into);
    return;
  }
  temporary const packed(from.bytes(), call_);
  pack(from, packed.data());
  unpack(packed.data(), from.bytes(), into);
}

// ---- takes ----

/// Waits for `count` parts; parts() says from whom, and how long.
void exchange::wait(int count) const { ask(call::wait_parts, comm_->group, number_, count); }

void exchange::check_length(int source, std::uint64_t sent, std::uint64_t bytes) const {
  if (sent == bytes) return;
  refuse("%s: rank %d sent %lu bytes for a buffer of %lu", call_, source, sent, bytes);
}

void exchange::take_one(items const& into) const {
  incoming_items const there(into, call_);
  wait(1);
  check_length(static_cast<int>(parts()[0].member), parts()[0].bytes, there.bytes());
  parts()[0].address = there.address();
  ask(call::take_parts, 0, 1);
  there.finish(there.bytes());
}

/// The places of parts that have not all come yet: their old contents need not go to disk while
/// this member waits.
void exchange::discard_old(layout const& in) const {
  std::uint64_t total = 0;
  for (int i = 0; i < in.size(); ++i) total += in.at(i).bytes();
  bool const is_worth_asking = total >= batch_bytes && shared->moves_contents.load() != 0;
  if (!is_worth_asking || ask(call::has_ended, comm_->group, number_, in.size() - 1) != 0) return;
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  for (int i = 0; i < in.size(); ++i) {
    items const& one = in.at(i);
    if (i == rank() || one.bytes() == 0 || address_in_place(one) == 0) continue;
    auto* const first = static_cast<std::byte*>(one.first());
    if (first != end) {
      discard(begin, static_cast<std::uint64_t>(end - begin));
      begin = first;
    }
    end = first + one.bytes();
  }
  discard(begin, static_cast<std::uint64_t>(end - begin));
}

void exchange::take_each(layout const& in) const {
  if (in.size() == 1) return;
  discard_old(in);
  wait(in.size() - 1);
  for (int from = 0; from < in.size(); ++from) {
    if (from != rank()) check_length(from, parts()[part_of(from)].bytes, in.at(from).bytes());
  }
  for (int first = 0; first < in.size();) first = take_some(first, in);
}

int exchange::take_some(int first, layout const& in) const {
  batch const some(first, in, rank());
  temporary const packed(some.packed_bytes, call_);
  std::byte* place = packed.data();
  int count = 0;
  for (int from = first; from < some.end; ++from) {
    if (from == rank()) continue;
    ++count;
    items const& one = in.at(from);
    part& there = parts()[part_of(from)];
    there.address = one.bytes() == 0 ? 0 : address_in_place(one);
    if (!is_packed(one)) continue;
    there.address = reinterpret_cast<std::uint64_t>(place);
    place += one.bytes();
  }
  int const first_part = first <= rank() ? first : first - 1;
  if (count != 0) ask(call::take_parts, first_part, count);
  place = packed.data();
  for (int from = first; from < some.end && some.packed_bytes != 0; ++from) {
    items const& one = in.at(from);
    if (from == rank() || !is_packed(one)) continue;
    unpack(place, one.bytes(), one);
    place += one.bytes();
  }
  return some.end;
}

void exchange::take_folded(int count, folding& into) const {
  wait(count);
  std::uint64_t const bytes = into.bytes();
  std::uint64_t const fitting = bytes == 0 ? batch_bytes : batch_bytes / bytes;
  int at_once = count;
  if (fitting < static_cast<std::uint64_t>(count)) at_once = static_cast<int>(fitting);
  if (at_once == 0) at_once = 1;
  for (int i = 0; i < count; ++i) {
    check_length(static_cast<int>(parts()[i].member), parts()[i].bytes, bytes);
  }
  temporary const packed(bytes * static_cast<std::uint64_t>(at_once), call_);
  for (int first = 0; first < count; first += at_once) {
    int const some = count - first < at_once ? count - first : at_once;
    for (int i = 0; i < some; ++i) {
      parts()[first + i].address =
          reinterpret_cast<std::uint64_t>(packed.data() + static_cast<std::uint64_t>(i) * bytes);
    }
    ask(call::take_parts, first, some);
    for (int i = 0; i < some; ++i) {
      into.add_packed(packed.data() + static_cast<std::uint64_t>(i) * bytes);
    }
  }
}

// ---- operations that have begun ----

started started::until_begun(exchange&& all) { return {std::move(all), rest::begun, 0}; }

started started::one(exchange&& all, items const& into) {
  started made(std::move(all), rest::one, 1);
  made.in_ = layout::one(into);
  return made;
}

started started::each(exchange&& all, layout&& in) {
  if (in.size() == 1) return started(std::move(all));
  started made(std::move(all), rest::each, in.size() - 1);
  made.in_ = std::move(in);
  return made;
}

started started::folded(exchange&& all, int parts, folding&& into) {
  started made(std::move(all), rest::folded, parts);
  made.fold_ = std::move(into);
  return made;
}

void started::finish() {
  switch (rest_) {
    case rest::nothing:
    case rest::begun:
      break;
    case rest::one:
      all_.take_one(in_.at(0));
      break;
    case rest::each:
      all_.take_each(in_);
      break;
    case rest::folded:
      all_.take_folded(parts_, fold_);
      fold_.finish();
      break;
  }
  rest_ = rest::nothing;
}

}  // namespace outsize::bsp::mpi
