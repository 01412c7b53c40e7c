// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/presorted/outliers.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/file_stages.hpp>

namespace outsize::detail {

bool aside::put(std::span<std::byte const> items) {
  if (items.size() > capacity_ - used_) return false;
  used_ += items.size();
  std::ranges::copy(items,
                    grows_down_ ? this->items().begin() : this->items().end() - std::ssize(items));
  return true;
}

void aside::drop_last(std::size_t bytes) noexcept {
  used_ -= bytes;
  dropped_ += bytes;
}

std::size_t outliers::capacity_bytes(std::uint64_t memory_bytes,
                                     item_operations const& operations) {
  // Two kinds, one of which is sorted at a time; each piece of memory may round up to a page.
  std::uint64_t const rounding = std::min<std::uint64_t>(memory_bytes, 3 * page_bytes());
  std::size_t const item = operations.item_bytes;
  return (memory_bytes - rounding) / (2 * item + operations.scratch_bytes(item)) * item;
}

outliers::outliers(memory_budget& budget, std::uint64_t memory_bytes,
                   item_operations const& operations, bool from_the_end)
    : operations_(operations),
      order_(operations, from_the_end),
      memory_(budget.take(memory_bytes, "sort: items out of order")),
      late_(memory_, capacity_bytes(memory_bytes, operations), from_the_end),
      early_(memory_, capacity_bytes(memory_bytes, operations), from_the_end) {}

void outliers::sort_all() {
  std::size_t const most = std::max(late_.items().size(), early_.items().size());
  buffer const scratch = memory_.allocate(operations_.scratch_bytes(most));
  for (aside* some : {&late_, &early_})
    if (!some->items().empty()) operations_.sort(some->items(), scratch.bytes());
}

/// Early ones were taken before late ones.
bool outliers::last_is_late() {
  if (early_.items().empty()) return true;
  if (late_.items().empty()) return false;
  std::size_t const item = order_.item_bytes();
  return order_.follows(early_.items().last(item).data(), late_.items().last(item).data());
}

std::span<std::byte const> outliers::last() {
  return (last_is_late() ? late_ : early_).items().last(order_.item_bytes());
}

/// Bytes of items in the file, from the back, that go behind the last of these. Late ones were
/// taken after them, and early ones before all that compare equal.
std::size_t outliers::behind_last(std::span<std::byte const> ordered) {
  if (bytes() == 0) return ordered.size();
  auto const* const item = last().data();
  return last_is_late() ? order_.back_behind(ordered, item) : order_.back_following(item, ordered);
}

/// Fills blocks of the output, the last one first, with items from the blocks of the input, which
/// come in that order too.
void outliers::merge(pipeline::ports& p, std::uint64_t ordered_bytes, std::size_t buffer_bytes) {
  std::size_t const item = order_.item_bytes();
  std::uint64_t left = ordered_bytes;  // that have not been accepted
  pipeline::pooled_buffer in;
  for (std::uint64_t end = ordered_bytes + bytes(); bytes() > 0;) {
    std::uint64_t const begin = (end - 1) / buffer_bytes * buffer_bytes;
    auto out = p.take();
    out.resize(end - begin);
    for (std::size_t room = out.size_bytes(); room > 0;) {
      if ((!in || in.size_bytes() == 0) && left > 0) {
        in = *p.accept();
        std::uint64_t const block = (left - 1) / buffer_bytes * buffer_bytes;
        in.resize(left - block);
        left = block;
      }
      auto const ordered = in ? in.bytes() : std::span<std::byte>();
      std::size_t const moved = std::min(room, behind_last(ordered));
      room -= moved;
      std::ranges::copy(ordered.last(moved), out.bytes().subspan(room).begin());
      if (in) in.resize(ordered.size() - moved);
      bool const more_may_be_behind = moved == ordered.size() && left > 0;
      if (room == 0 || more_may_be_behind) continue;
      aside& from = last_is_late() ? late_ : early_;
      room -= item;
      std::memcpy(&out.bytes()[room], from.items().last(item).data(), item);
      from.drop_last(item);
    }
    p.convey(std::move(out));
    end = begin;
  }
}

pipeline::network_report outliers::merge_into(io::file& file, std::uint64_t ordered_bytes,
                                              memory_budget& budget,
                                              pipeline::network_options const& options,
                                              std::size_t buffer_bytes, std::stop_token stop) {
  sort_all();
  std::uint64_t const all_bytes = ordered_bytes + bytes();
  std::uint64_t const blocks_in = div_up<std::uint64_t>(ordered_bytes, buffer_bytes);
  std::uint64_t const blocks_out = div_up<std::uint64_t>(all_bytes, buffer_bytes);
  std::uint64_t const alignment = file.alignment_bytes();
  auto const block_of = [&](std::uint64_t block, std::uint64_t file_bytes) {
    std::uint64_t const begin = block * buffer_bytes;
    auto const length = std::min<std::uint64_t>(buffer_bytes, file_bytes - begin);
    return std::vector<pipeline::file_piece>{{begin, 0, round_up(length, alignment)}};
  };
  pipeline::network n(budget, options);
  auto const ordered =
      n.buffers(
          {.name = "in order", .buffer_bytes = buffer_bytes, .count = 5, .rounds = blocks_in}) |
      pipeline::read_pieces(file, [&](pipeline::pooled_buffer const& b) {
        return block_of(blocks_in - 1 - b.round(), ordered_bytes);
      });
  auto const merged =
      n.pool({.name = "merged", .buffer_bytes = buffer_bytes, .count = 5, .rounds = blocks_out});
  auto const out = n.node("merge", {.inputs = {ordered}, .pools = {merged}},
                          [&](pipeline::ports& p) { merge(p, ordered_bytes, buffer_bytes); });
  out[0] | pipeline::write_pieces(file, [&](pipeline::pooled_buffer const& b) {
    auto pieces = block_of(blocks_out - 1 - b.round(), all_bytes);
    pieces[0].length_bytes = b.size_bytes();
    return pieces;
  });
  n.run(std::move(stop));
  return n.report();
}

}  // namespace outsize::detail
