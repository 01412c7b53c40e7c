// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Many operations on a B+-tree at once: in the order of their keys, so that those in the same leaf
// are a group (page_groups.hpp), and leaves near to each other are read by one request.
//
// Threads: as the tree's. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/container/detail/tree/btree.hpp>
#include <outsize/page/detail/page_groups.hpp>

namespace outsize::detail {

/// A batch of keys, which are dealt with leaf by leaf.
///
/// I/Os:    a read for each leaf that a key falls in, tree_pages::batch_leaves() at once; where
///          that is one in five or more, and they are side by side on disk, requests of up to 2 MiB
///          that read the others too.
/// Memory:  a key and 8 bytes for each of most_at_once keys.
template <typename Tree>
class btree_batch {
 public:
  using key_type = typename Tree::key_type;
  static constexpr std::size_t most_at_once = std::size_t{1} << 20;

  explicit btree_batch(Tree const& tree) : tree_(tree), scan_(tree.pages()) {}

  /// Calls f(index, page) for the keys of indices 0 to count - 1, by key, equal ones by index; page
  /// is the leaf that the key belonged to when its read was planned.
  template <typename KeyAt, typename F>
  void for_each(std::size_t count, KeyAt key_at, F f) {
    for (std::size_t first = 0; first < count; first += most_at_once) {
      sort(first, std::min(most_at_once, count - first), key_at);
      auto const& leaves = tree_.pages().leaves().row();
      for_each_page_group(
          keys_.size(), tree_.pages().batch_ahead(), [this](std::size_t i) { return group_of(i); },
          [&](auto pages, page_row::ahead most) { return leaves.expect_first(pages, most); },
          [&](std::size_t i, page_group const& now) {
            for (; i < now.end; ++i) f(keys_[i].index, now.page);
          });
    }
  }

 private:
  struct asked {
    key_type key;
    std::size_t index;
  };

  template <typename KeyAt>
  void sort(std::size_t first, std::size_t count, KeyAt key_at) {
    keys_.clear();
    keys_.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) keys_.push_back({key_at(i), i});
    auto const& less = tree_.less();
    std::ranges::sort(keys_, [&](asked const& a, asked const& b) {
      if (less(a.key, b.key)) return true;
      return a.index < b.index && !less(b.key, a.key);
    });
  }

  /// A key and those behind it in the same leaf.
  page_group group_of(std::size_t first) {
    auto const& less = tree_.less();
    auto const before = way_;
    auto const leaf = tree_.find_leaf(keys_[first].key, way_);
    tree_.prefetch_nodes(before, way_);
    std::size_t end = first + 1;
    while (end < keys_.size() && (!leaf.has_end || less(keys_[end].key, leaf.end))) ++end;
    return {leaf.page, end};
  }

  Tree const& tree_;
  typename Tree::leaf_way way_;  // to the last leaf found
  tree_pages::scan scan_;        // as one of which it shares the buffers of runs
  std::vector<asked> keys_;
};

}  // namespace outsize::detail
