// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The kernel of items of one C++ type: the functions of their family (typed_items.hpp) for bytes.
//
// Items lie where one of their type may. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/kernel/detail/item_kernel.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>
#include <outsize/kernel/detail/loser_tree.hpp>
#include <outsize/kernel/detail/word_sort.hpp>

namespace outsize::detail {

/// @tparam Family  typed_items, or what derives from it.
template <typename Family>
class typed_kernel final : public item_kernel {
  using item = typename Family::item;
  using view = typename Family::view;

 public:
  explicit typed_kernel(Family family)
      : item_kernel({.item_bytes = sizeof(item),
                     .sorts_out_of_place = Family::sorts_out_of_place,
                     .combines = Family::combines}),
        family_(std::move(family)) {}

  bool less(std::byte const* a, std::byte const* b) const override {
    return family_.before(*reinterpret_cast<item const*>(a), *reinterpret_cast<item const*>(b));
  }

  void sort(std::span<std::byte> items, std::span<std::byte> to) const override {
    if constexpr (Family::sorts_out_of_place)
      family_.sort_part_into(items_in(items), items_in(to));
    else
      family_.sort_part(items_in(items));
  }

  void merge(std::vector<sorted_pieces> const& sources, merge_places& out) const override {
    typed_places<item, merge_places> places(out);
    if constexpr (Family::merges_by_copying) {
      auto merge = family_.make_merge();
      for (sorted_pieces const& source : sources) {
        std::vector<std::span<item const>> pieces;
        for (auto const piece : source) pieces.push_back(items_in(piece));
        merge.add_source(std::move(pieces));
      }
      merge.run(places);
    } else {
      merge_by_address(sources, places);
    }
  }

  std::size_t reduce(std::span<std::byte> items) const override {
    return reduce_sorted(family_, items);
  }
  void combine(std::byte* first, std::byte const* second) const override {
    combine_into(family_, first, second);
  }
  bool in_order(std::span<std::byte const> items, bool descending) const override {
    return family_.in_order(items_in(items), descending);
  }
  void reverse(std::span<std::byte const> items, std::byte* to) const override {
    // By a constant, so that copying one is a move or two.
    for (std::size_t at = items.size(); at > 0; to += sizeof(item)) {
      at -= sizeof(item);
      std::memcpy(to, &items[at], sizeof(item));
    }
  }

 private:
  static std::span<item> items_in(std::span<std::byte> bytes) noexcept {
    return {reinterpret_cast<item*>(bytes.data()), bytes.size() / sizeof(item)};
  }
  static std::span<item const> items_in(std::span<std::byte const> bytes) noexcept {
    return {reinterpret_cast<item const*>(bytes.data()), bytes.size() / sizeof(item)};
  }

  /// Large items are compared where they lie and copied once.
  template <typename Places>
  void merge_by_address(std::vector<sorted_pieces> const& sources, Places& out) const {
    std::vector<piece_cursor<view>> cursors;
    cursors.reserve(sources.size());
    for (sorted_pieces const& source : sources) {
      std::vector<piece<view>> pieces;
      for (auto const bytes : source)
        pieces.push_back({view(items_in(bytes)), 0, bytes.size() / sizeof(item)});
      cursors.emplace_back(std::move(pieces));
    }
    loser_tree tree(std::move(cursors), family_.less());
    while (!tree.empty()) {
      auto const room = out.room();
      std::size_t count = 0;
      for (; count < room.size() && !tree.empty(); ++count, tree.pop())
        Family::store(tree.top(), reinterpret_cast<std::byte*>(&room[count]));
      out.used(count);
    }
  }

  Family family_;
};

/// What combines items of a type that are sorted as numbers: their family does, as they travel.
template <typename Family>
class typed_reducer final : public item_reducer {
 public:
  explicit typed_reducer(Family family) : family_(std::move(family)) {}
  std::size_t reduce(std::span<std::byte> items) const override {
    return reduce_sorted(family_, items);
  }
  void combine(std::byte* first, std::byte const* second) const override {
    combine_into(family_, first, second);
  }

 private:
  Family family_;
};

/// Less as words of large items.
template <typename T, word_order<T> Less>
class typed_words final : public item_words {
 public:
  explicit typed_words(Less less) : item_words(sizeof(T)), less_(std::move(less)) {}
  std::uint64_t word(std::byte const* item) const override {
    return less_.word(*reinterpret_cast<T const*>(item));
  }

 private:
  Less less_;
};

}  // namespace outsize::detail
