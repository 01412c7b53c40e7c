// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Many items of a container at once, wherever they are: in the order of their places, so that each
// page is read once, many at the same time.
//
// Threads: reading may have company, who writes is alone. Layer: container.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/page/detail/page_groups.hpp>

namespace outsize::detail {

/// Items asked for by their indices, page by page.
///
/// I/Os:    a read for each page with an item, of which page_row::batch_pages() are under way.
/// Memory:  16 bytes for each of most_at_once items.
/// Checked: item_batch_test.cpp.
template <typename T>
class item_batch {
 public:
  static constexpr std::size_t most_at_once = std::size_t{1} << 20;

  struct asked {
    std::uint64_t position;
    std::size_t index;  // of its index
    friend auto operator<=>(asked const&, asked const&) = default;
  };

  explicit item_batch(paged_items<T> const& from) : from_(from) {}

  /// Calls deal(page, span of asked) for each page with items, in order; items in that of their
  /// positions, equal ones as they were asked for. @pre all indices are below from.size().
  template <typename Deal>
  void for_each_page(std::span<std::uint64_t const> indices, Deal deal) {
    for (std::size_t first = 0; first < indices.size(); first += most_at_once) {
      sort(indices, first, std::min(first + most_at_once, indices.size()));
      auto const& row = from_.row();
      for_each_page_group(
          asked_.size(), {.runs = 0, .pages = row.batch_pages()},
          [this](std::size_t i) { return group_of(i); },
          [&](auto pages, page_row::ahead most) { return row.expect_first(pages, most); },
          [&](std::size_t i, page_group const& group) {
            deal(group.page, std::span(asked_).subspan(i, group.end - i));
          });
    }
  }

 private:
  void sort(std::span<std::uint64_t const> indices, std::size_t first, std::size_t last) {
    asked_.clear();
    asked_.reserve(last - first);
    for (std::size_t i = first; i < last; ++i) {
      OUTSIZE_ASSERT(indices[i] < from_.size());
      asked_.push_back({from_.begin() + indices[i], i});
    }
    std::ranges::sort(asked_);
  }
  page_group group_of(std::size_t first) const {
    std::uint64_t const page = asked_[first].position / from_.page_items();
    std::uint64_t const behind = (page + 1) * from_.page_items();
    std::size_t end = first + 1;
    while (end < asked_.size() && asked_[end].position < behind) ++end;
    return {page, end};
  }

  paged_items<T> const& from_;
  std::vector<asked> asked_;
};

/// into[i] becomes item indices[i]. @throws io_error; others may have been copied.
template <typename T>
void read_many(paged_items<T> const& from, std::span<std::uint64_t const> indices,
               std::span<T> into) {
  OUTSIZE_ASSERT(indices.size() == into.size());
  item_batch<T>(from).for_each_page(indices, [&](std::uint64_t page, auto const& group) {
    auto const pin = from.row().pin(page, page);  // none is in front of it: nothing is read ahead
    auto const* const items = pin ? reinterpret_cast<T const*>(pin.bytes().data()) : nullptr;
    for (auto const& [position, index] : group)
      into[index] = items != nullptr ? items[position % from.page_items()] : from.value(position);
  });
}

/// Item indices[i] becomes items[i], of equal indices the last one's. References end. @throws
/// io_error, out_of_space; others may have been written.
template <typename T>
void write_many(paged_items<T>& to, std::span<std::uint64_t const> indices,
                std::span<T const> items) {
  OUTSIZE_ASSERT(indices.size() == items.size());
  to.row().end_lives();
  item_batch<T>(to).for_each_page(indices, [&](std::uint64_t page, auto const& group) {
    auto pin = to.row().hold_to_change(page);
    auto* const there = reinterpret_cast<T*>(pin.change().data());
    for (auto const& [position, index] : group) there[position % to.page_items()] = items[index];
  });
}

}  // namespace outsize::detail
