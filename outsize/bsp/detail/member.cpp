// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/member.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/bsp/detail/bsp_engine.hpp>
#include <outsize/bsp/detail/message_prefetch.hpp>

namespace outsize::bsp::detail {

namespace {

struct color_and_key {
  std::int64_t color, key;
};

}  // namespace

member::member(engine& run, std::shared_ptr<group> of, std::uint32_t global_rank,
               std::uint32_t rank)
    : run_(&run), group_(std::move(of)), global_rank_(global_rank), rank_(rank) {}

member::member(engine& run, std::uint32_t global_rank)
    : member(run, run.everybody(), global_rank, global_rank) {}

std::uint32_t member::count() const noexcept {
  return static_cast<std::uint32_t>(group_->members.size());
}

std::uint64_t member::begin(char const* name, std::uint32_t root, std::size_t item_bytes,
                            std::uint64_t items, char const* fold) {
  OUTSIZE_ASSERT(root < count());
  run_->begin(global_rank_, *group_, next_number_, {name, root, item_bytes, items, fold});
  return next_number_++;
}

/// @param bytes  They and the span stay as long as the result is used.
sent_bytes member::bytes_to_send(std::span<std::byte const> const& bytes) const {
  std::optional<std::uint64_t> const offset =
      run_->context_of(global_rank_).memory().offset_of(bytes);
  return {std::span(&bytes, 1), offset.value_or(sent_bytes::elsewhere)};
}

void member::put(std::uint64_t number, std::span<std::uint32_t const> to,
                 std::span<std::byte const> bytes) {
  outgoing const part{to, bytes_to_send(bytes)};
  run_->put_parts(global_rank_, *group_, number, rank_, std::span(&part, 1));
}

void member::put_each(std::uint64_t number, std::span<std::span<std::byte const> const> parts) {
  std::vector<std::uint32_t> to(parts.size());
  std::iota(to.begin(), to.end(), 0U);
  std::vector<outgoing> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all.push_back({std::span(to).subspan(i, 1), bytes_to_send(parts[i])});
  }
  run_->put_parts(global_rank_, *group_, number, rank_, all);
}

void member::put_to_all(std::uint64_t number, std::span<std::byte const> bytes,
                        std::optional<std::uint32_t> without) {
  std::vector<std::uint32_t> all(count());
  std::iota(all.begin(), all.end(), 0U);
  if (without) std::erase(all, *without);
  put(number, all, bytes);
}

std::vector<incoming> member::wait_for_parts(std::uint64_t number, std::size_t count,
                                             char const* name) {
  return run_->take_parts(global_rank_, *group_, number, count, name);
}

void member::take(incoming const& part, std::span<std::byte> into) { run_->get(part.bytes, into); }

void member::take_all(std::span<incoming const> parts,
                      std::function<std::span<std::byte>(std::size_t)> const& place) {
  std::vector<std::size_t> order(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) order[parts[i].turn] = i;
  std::vector<message_ticket> messages;
  messages.reserve(order.size());
  for (std::size_t const i : order) messages.push_back(parts[i].bytes);
  message_prefetch ahead(*run_, std::move(messages));
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    ahead.before(turn);
    take(parts[order[turn]], place(order[turn]));
  }
}

void member::drop(incoming const& part) noexcept { run_->drop(part.bytes); }

void member::barrier() {
  begin("barrier", 0, 0);
  run_->barrier(global_rank_, *group_);
}

void member::broadcast(std::span<std::byte> bytes, std::uint32_t root, std::size_t item_bytes) {
  std::uint64_t const number = begin("broadcast", root, item_bytes, bytes.size() / item_bytes);
  if (rank_ == root) {
    put_to_all(number, bytes, root);
  } else {
    take(wait_for_parts(number, 1, "broadcast").front(), bytes);
  }
}

member member::split(std::int64_t color, std::int64_t key) {
  std::uint64_t const number = begin("split", 0, sizeof(color_and_key));
  color_and_key const mine{color, key};
  put_to_all(number, std::as_bytes(std::span(&mine, 1)));
  std::vector<std::pair<std::int64_t, std::uint32_t>> same;  // key and rank
  for (incoming const& part : wait_for_parts(number, count(), "split")) {
    color_and_key other;
    take(part, std::as_writable_bytes(std::span(&other, 1)));
    if (other.color == color) same.emplace_back(other.key, part.source);
  }
  std::sort(same.begin(), same.end());
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> members;
  for (auto const& [of_key, source] : same) {
    if (source == rank_) rank = static_cast<std::uint32_t>(members.size());
    members.push_back(group_->members[source]);
  }
  return {*run_, run_->split(global_rank_, *group_, number, color, members), global_rank_, rank};
}

void member::discard(std::span<std::span<std::byte> const> bytes) noexcept {
  std::span<std::byte> run;
  for (std::span<std::byte> const next : bytes) {
    if (next.empty()) continue;
    if (run.data() + run.size() == next.data()) {
      run = {run.data(), run.size() + next.size()};
      continue;
    }
    run_->discard_contents(global_rank_, run);
    run = next;
  }
  run_->discard_contents(global_rank_, run);
}

void member::send(std::uint32_t to, std::int64_t tag, std::span<std::byte const> bytes) {
  OUTSIZE_ASSERT(to < count());
  run_->send(global_rank_, *group_, rank_, to, tag, bytes_to_send(bytes));
}

incoming member::receive(std::optional<std::uint32_t> from, std::optional<std::int64_t> tag) {
  message_filter wanted{.group = group_->number};
  if (from) wanted.source = *from;
  if (tag) wanted.tag = *tag;
  envelope const message = run_->receive(global_rank_, wanted, "receive");
  return {message.source, 0, message.tag, message.bytes};
}

}  // namespace outsize::bsp::detail
