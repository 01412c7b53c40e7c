// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/bsp_engine.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/bsp/bsp_error.hpp>

namespace outsize::bsp::detail {

bool collective_call::operator==(collective_call const& other) const {
  return name == other.name && root == other.root && item_bytes == other.item_bytes &&
         items == other.items && operation == other.operation;
}

std::string collective_call::text() const {
  std::string all = fmt::format("{}(items of {} bytes", name, item_bytes);
  if (items != 0) all += fmt::format(", {} of them", items);
  all += fmt::format(", root {}", root);
  if (!operation.empty()) all += ", " + operation;
  return all + ")";
}

engine::engine(storage& store, run_plan const& plan,
               std::function<std::unique_ptr<arena_memory>(std::uint32_t)> const& make_memory,
               std::function<void(std::uint32_t)> suspend)
    : store_(store),
      plan_(plan),
      suspend_(std::move(suspend)),
      memory_(store.memory().take(plan.resident_bytes(), "contexts of virtual processors")),
      shared_(plan.count, plan.workers, plan.frame_bytes),
      messages_(store, plan.count, plan.workers, plan.message_bytes),
      lender_(store),
      everybody_(std::make_shared<group>()),
      mailboxes_(plan.count),
      arrivals_(plan.count) {
  arena_shape const shape = shape_of(plan.context_bytes);
  everybody_->members.resize(plan.count);
  for (std::uint32_t rank = 0; rank < plan.count; ++rank) {
    everybody_->members[rank] = rank;
    contexts_.push_back(std::make_unique<context>(store, shape, make_memory(rank)));
  }
  messages_.on_transfer = [this](std::uint32_t rank, superstep_counts const& moved) {
    shared_.record.add(rank, moved);
  };
  pager_ = std::make_unique<pager>(store_, shared_, contexts_);
}

engine::~engine() = default;

// ---- waits ----

void engine::check_run() const {
  if (shared_.has_failed()) throw cancelled("virtual processors");
}

template <typename Condition>
void engine::wait_until(std::uint32_t rank, wait_note const& what, Condition const& is_over) {
  std::unique_lock held(shared_.mutex);
  shared_.waits[rank] = what;
  for (;;) {
    check_run();
    if (is_over()) return;
    held.unlock();
    suspend_(rank);
    held.lock();
  }
}

void engine::begin(std::uint32_t rank, group const& of, std::uint64_t number,
                   collective_call const& call) {
  std::lock_guard const held(shared_.mutex);
  check_run();
  shared_.record.add(rank, {.operations = 1});
  ++shared_.steps;
  auto const [place, is_first] = calls_.try_emplace({of.number, number}, open_call{call});
  if (!is_first && !(place->second.call == call)) {
    throw bsp_error(rank, fmt::format("virtual processor {} calls {}, others of its group {}", rank,
                                      call.text(), place->second.call.text()));
  }
  bool const is_last = ++place->second.begun == of.members.size();
  if (is_last) calls_.erase(place);
  if (is_of_all(of)) shared_.record.pass(rank);
  if (!is_last || !call.ends_when_begun) return;
  for (std::uint32_t const member : of.members) {
    if (member == rank) continue;
    ++arrivals_[member];
    if (mailboxes_[member].expects(of.number, number) || shared_.ranks.is_polling(member)) {
      shared_.wake(member);
    }
  }
}

/// Adds to the superstep that an operation of the group has ended, or to the present one.
void engine::note_part(std::uint32_t rank, group const& of, superstep_counts const& more) noexcept {
  if (is_of_all(of)) {
    shared_.record.add_to_ended(rank, more);
  } else {
    shared_.record.add(rank, more);
  }
}

/// A message is about to be read, perhaps in its sender's blocks.
void engine::note_loan(std::uint32_t rank, message_store::ticket const& message) noexcept {
  if (message_store::is_lent(message)) {
    shared_.record.add(rank, {.lent_bytes = message.length_bytes});
  }
}

void engine::barrier(std::uint32_t rank, group& of) {
  std::uint64_t before = 0;
  {
    std::lock_guard const held(shared_.mutex);
    check_run();
    before = of.barriers;
    if (++of.arrived == of.members.size()) {
      of.arrived = 0;
      ++of.barriers;
      for (std::uint32_t const member : of.members) {
        if (member != rank) shared_.wake(member);
      }
      return;
    }
  }
  wait_until(rank, {.call = "barrier", .group = of.number}, [&] { return of.barriers != before; });
}

// ---- parts and messages ----

/// Bytes that are worth stretches of their own on disk, if memory is short anyway.
bool engine::may_lend(context const& of, sent_bytes const& bytes) {
  constexpr std::uint64_t least_lent_bytes = 256_KiB;
  return bytes.arena_offset != sent_bytes::elsewhere &&
         bytes.length_bytes() >= std::min<std::uint64_t>(least_lent_bytes, of.shape().piece_bytes);
}

message_store::ticket engine::stored(std::uint32_t rank, std::uint32_t receiver,
                                     sent_bytes const& bytes, bool is_lent, std::size_t readers) {
  auto const count = static_cast<std::uint32_t>(readers);
  if (!is_lent) return messages_.put(receiver, bytes.pieces, count);
  return messages_.lend(
      receiver, lender::stretches(*contexts_[rank], {bytes.arena_offset, bytes.length_bytes()}),
      count);
}

void engine::put_parts(std::uint32_t rank, group const& of, std::uint64_t number,
                       std::uint32_t source, std::span<outgoing const> parts) {
  context& mine = *contexts_[rank];
  bool const is_short_of_memory = shared_.has_swapped.load();  // once: it may change meanwhile
  std::vector<arena_stretch> long_ones;
  std::uint64_t long_bytes = 0;
  for (outgoing const& each : parts) {
    if (!is_short_of_memory || !may_lend(mine, each.bytes) || each.to.empty()) continue;
    long_ones.push_back({each.bytes.arena_offset, each.bytes.length_bytes()});
    long_bytes += long_ones.back().length_bytes;
  }
  bool const lends_any = long_bytes >= mine.shape().piece_bytes;  // saving may move a whole piece
  if (lends_any) {
    std::uint64_t const saved_bytes = lender_.save(mine, long_ones);
    shared_.record.add(rank, {.changed_bytes = saved_bytes, .written_bytes = saved_bytes});
  }
  for (outgoing const& each : parts) {
    if (each.to.empty()) continue;
    message_store::ticket const bytes =
        stored(rank, of.members[each.to.front()], each.bytes,
               lends_any && may_lend(mine, each.bytes), each.to.size());
    note_part(rank, of, {.sent_bytes = bytes.length_bytes * each.to.size()});
    std::lock_guard const held(shared_.mutex);
    for (std::uint32_t const member : each.to) {
      std::uint32_t const receiver = of.members[member];
      ++arrivals_[receiver];
      envelope const part{.group = of.number, .source = source, .tag = 0, .bytes = bytes};
      if (mailboxes_[receiver].put_part(number, part) || shared_.ranks.is_polling(receiver)) {
        shared_.wake(receiver);
      }
    }
  }
}

std::vector<incoming> engine::take_parts(std::uint32_t rank, group const& of, std::uint64_t number,
                                         std::size_t count, char const* call) {
  mailbox& mine = mailboxes_[rank];
  awaited_operation const wanted{.group = of.number, .number = number, .parts = count};
  {
    std::lock_guard const held(shared_.mutex);
    mine.expect({}, std::span(&wanted, 1));
  }
  wait_until(rank, {.call = call, .group = of.number},
             [&] { return mine.part_count(of.number, number) == count; });
  std::vector<envelope> taken;
  {
    std::lock_guard const held(shared_.mutex);
    taken = mine.take_parts(of.number, number);
  }
  std::vector<incoming> parts;
  parts.reserve(taken.size());
  superstep_counts came;
  for (envelope const& part : taken) {
    parts.push_back({part.source, static_cast<std::uint32_t>(parts.size()), part.tag, part.bytes});
    came.received_bytes += part.bytes.length_bytes;
    note_loan(rank, part.bytes);
  }
  note_part(rank, of, came);
  std::sort(parts.begin(), parts.end(),
            [](incoming const& a, incoming const& b) { return a.source < b.source; });
  return parts;
}

std::uint64_t engine::prefetch_bytes() const noexcept {
  return std::min<std::uint64_t>(plan_.message_bytes / plan_.workers / 8, 4_MiB);
}

std::uint64_t engine::send(std::uint32_t rank, group const& of, std::uint32_t source,
                           std::uint32_t to, std::int64_t tag, sent_bytes const& bytes,
                           bool is_synchronous) {
  {
    std::lock_guard const held(shared_.mutex);
    check_run();  // if a write has failed, memory may count as saved that is not
  }
  std::uint32_t const receiver = of.members[to];
  context const& mine = *contexts_[rank];
  bool const is_lent = shared_.has_swapped.load() && may_lend(mine, bytes) &&
                       lender::is_saved(mine, {bytes.arena_offset, bytes.length_bytes()});
  message_store::ticket const message_bytes = stored(rank, receiver, bytes, is_lent, 1);
  std::lock_guard const held(shared_.mutex);
  check_run();
  shared_.record.add(rank, {.sent_bytes = message_bytes.length_bytes});
  ++shared_.steps;
  ++arrivals_[receiver];
  envelope message{.group = of.number, .source = source, .tag = tag, .bytes = message_bytes};
  if (is_synchronous) {
    message.receipt = ++receipts_;
    untaken_.emplace(message.receipt, rank);
  }
  if (mailboxes_[receiver].put(message) || shared_.ranks.is_polling(receiver)) {
    shared_.wake(receiver);
  }
  for (std::uint64_t const receipt : mailboxes_[receiver].matched_receipts()) release(receipt);
  return message.receipt;
}

void engine::post(std::uint32_t rank, std::vector<message_filter> receives) {
  std::lock_guard const held(shared_.mutex);
  mailboxes_[rank].post(std::move(receives));
  for (std::uint64_t const receipt : mailboxes_[rank].matched_receipts()) release(receipt);
}

/// A synchronous message has found its receive.
void engine::release(std::uint64_t receipt) {
  auto const sender = untaken_.find(receipt);
  if (sender == untaken_.end()) return;
  ++arrivals_[sender->second];
  shared_.wake(sender->second);
  untaken_.erase(sender);
}

bool engine::is_taken(std::uint32_t rank, std::uint64_t receipt, bool waits, char const* call) {
  auto const is_gone = [&] { return !untaken_.contains(receipt); };
  if (waits) {
    wait_until(rank, {.call = call}, is_gone);
    return true;
  }
  std::lock_guard const held(shared_.mutex);
  check_run();
  return is_gone();
}

/// With the lock held.
bool engine::is_over(std::uint32_t rank, awaited_operation const& operation) const {
  if (operation.parts == 0) return !calls_.contains({operation.group, operation.number});
  return mailboxes_[rank].part_count(operation.group, operation.number) == operation.parts;
}

bool engine::has_ended(std::uint32_t rank, awaited_operation const& operation) {
  std::lock_guard const held(shared_.mutex);
  check_run();
  return is_over(rank, operation);
}

std::size_t engine::wait_for(std::uint32_t rank, std::span<message_filter const> wanted,
                             char const* call, std::span<std::uint64_t const> receipts,
                             std::span<awaited_operation const> operations) {
  mailbox& mine = mailboxes_[rank];
  {
    std::lock_guard const held(shared_.mutex);
    mine.expect(wanted, operations);
  }
  message_filter first;
  if (!operations.empty()) first.group = operations.front().group;
  if (!wanted.empty()) first = wanted.front();
  std::size_t found = 0;
  wait_until(
      rank, {.call = call, .group = first.group, .peer = first.source, .tag = first.tag}, [&] {
        found = 0;
        while (found < wanted.size() && mine.find(wanted[found]) == nullptr) ++found;
        return found < wanted.size() ||
               std::any_of(receipts.begin(), receipts.end(),
                           [this](std::uint64_t receipt) { return !untaken_.contains(receipt); }) ||
               std::any_of(
                   operations.begin(), operations.end(),
                   [&](awaited_operation const& operation) { return is_over(rank, operation); });
      });
  return found;
}

std::optional<envelope> engine::probe(std::uint32_t rank, message_filter const& wanted, bool waits,
                                      char const* call) {
  mailbox& mine = mailboxes_[rank];
  if (waits) {
    {
      std::lock_guard const held(shared_.mutex);
      mine.expect(std::span(&wanted, 1), {});
    }
    wait_until(rank,
               {.call = call, .group = wanted.group, .peer = wanted.source, .tag = wanted.tag},
               [&] { return mine.probe(wanted) != nullptr; });
  }
  std::lock_guard const held(shared_.mutex);
  check_run();
  envelope const* const found = mine.probe(wanted);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::vector<std::size_t> engine::matched(std::uint32_t rank) {
  std::lock_guard const held(shared_.mutex);
  check_run();
  return mailboxes_[rank].matched();
}

envelope engine::receive(std::uint32_t rank, message_filter const& wanted, char const* call) {
  wait_for(rank, std::span(&wanted, 1), call);
  std::lock_guard const held(shared_.mutex);
  envelope const message = *mailboxes_[rank].take(wanted);
  mailboxes_[rank].forget_receive(wanted);
  ++shared_.steps;
  release(message.receipt);
  shared_.record.add(rank, {.received_bytes = message.bytes.length_bytes});
  note_loan(rank, message.bytes);
  return message;
}

std::uint64_t engine::arrivals(std::uint32_t rank) {
  std::lock_guard const held(shared_.mutex);
  return arrivals_[rank];
}

void engine::yield(std::uint32_t rank, std::uint64_t noted, char const* call, bool does_more) {
  {
    std::lock_guard const held(shared_.mutex);
    check_run();
    if (does_more) ++shared_.steps;
    if (arrivals_[rank] != noted) return;
    shared_.waits[rank] = {.call = call};
    shared_.ranks.poll(rank);
  }
  suspend_(rank);
  std::lock_guard const held(shared_.mutex);
  check_run();
}

std::shared_ptr<group> engine::split(std::uint32_t rank, group const& of, std::uint64_t number,
                                     std::int64_t color,
                                     std::vector<std::uint32_t> const& members) {
  std::lock_guard const held(shared_.mutex);
  auto const place = splits_.try_emplace({{of.number, number}, color}).first;
  if (!place->second.made) {
    place->second.made = std::make_shared<group>();
    place->second.made->number = groups_++;
    place->second.made->members = members;
  }
  if (place->second.made->members != members) {
    throw bsp_error(rank, fmt::format("virtual processor {} and another one name different members "
                                      "of a new group",
                                      rank));
  }
  std::shared_ptr<group> made = place->second.made;
  if (++place->second.taken == members.size()) splits_.erase(place);
  return made;
}

std::vector<processor_counts> engine::counts() const {
  std::vector<processor_counts> all(plan_.count);
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
    superstep_counts const sum = shared_.record.total_of(rank);
    all[rank].swapped_out_bytes = sum.written_bytes;
    all[rank].swapped_in_bytes = sum.read_bytes;
    all[rank].sent_bytes = sum.sent_bytes;
    all[rank].operations = sum.operations;
  }
  return all;
}

}  // namespace outsize::bsp::detail
