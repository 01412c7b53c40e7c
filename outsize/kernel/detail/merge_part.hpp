// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A part of a merge: stretches of sorted sequences, of which one thread makes one.
//
// A part knows where its items lie and nothing else: it stays good while the sequences that it was
// cut from go on, as long as their blocks stay. Pure functions; different parts may be merged at
// the same time. Layer: kernel. Source: Beckmann, Dementiev, Singler 2009, section 2; STXXL
// 2008, section 6.1.2.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <outsize/kernel/detail/code_tree.hpp>
#include <outsize/kernel/detail/item_kernel.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>
#include <outsize/kernel/detail/loser_tree.hpp>

namespace outsize::detail {

/// A contiguous piece of the merge's output: from each sequence, the items that belong to it.
template <typename View>
struct merge_part {
  std::vector<std::vector<piece<View>>> sources;  // none empty; in the order of the sequences
  std::size_t first_rank = 0;                     // in the round
  std::size_t items = 0;
  std::uint64_t bytes = 0;
};

/// Codes tell what prefixes would.
template <typename View>
struct coded_cursor : piece_cursor<View> {
  using piece_cursor<View>::piece_cursor;
  auto get() const { return this->get_without_prefix(); }
};

template <typename Cursor, typename View>
std::vector<Cursor> cursors_of(merge_part<View> const& part) {
  std::vector<Cursor> cursors;
  cursors.reserve(part.sources.size());
  for (auto const& source : part.sources) cursors.emplace_back(source);
  return cursors;
}

/// Hands the items of `part` to emit(key) in order.
template <typename Family, typename Emit>
void merge_keys(Family const& family, merge_part<typename Family::view> const& part, Emit& emit) {
  using view = typename Family::view;
  if (part.sources.size() == 1) {
    piece_cursor<view> all(part.sources[0]);
    do emit(all.get());
    while (all.next());
    return;
  }
  auto const drain = [&emit](auto tree) {
    for (; !tree.empty(); tree.pop()) emit(tree.top());
  };
  if constexpr (requires { family.codes(); }) {
    drain(code_tree(cursors_of<coded_cursor<view>>(part), family.codes()));
  } else {
    drain(loser_tree(cursors_of<piece_cursor<view>>(part), family.less()));
  }
}

/// Writes the items of `part` in order to where out.room() says.
template <typename Family, typename Places>
  requires(Family::merges_by_copying)
void merge_items(Family const& family, merge_part<typename Family::view> const& part, Places& out) {
  using items = decltype(std::declval<typename Family::view>().items(0, 0));
  auto const pieces_of = [](auto const& source) {
    std::vector<items> pieces;
    for (auto const& [v, begin, end] : source) pieces.push_back(v.items(begin, end));
    return pieces;
  };
  if constexpr (requires { family.make_merge(); }) {
    auto merge = family.make_merge();
    for (auto const& source : part.sources) merge.add_source(pieces_of(source));
    typed_places<typename Family::item, Places> places(out);
    merge.run(places);
  } else {
    std::vector<sorted_pieces> sources;
    sources.reserve(part.sources.size());
    for (auto const& source : part.sources) sources.push_back(pieces_of(source));
    family.merge(sources, out);
  }
}

/// Copies the items of `part` to `to`, in no order: nothing is compared. Returns their end.
template <typename View>
std::byte* copy_items(merge_part<View> const& part, std::byte* to) {
  for (auto const& source : part.sources)
    for (auto const& [v, begin, end] : source) to = v.copy_items(begin, end, to);
  return to;
}

}  // namespace outsize::detail
