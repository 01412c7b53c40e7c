// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Numbers for the sorting engine, perhaps with what combines equal ones.
//
// Several threads may use a family. Layer: algorithm. A model of `item_family` (sort_work.hpp).
// What is done with numbers: typed_items.hpp.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/family/typed_chunk.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/kernel/detail/item_kernel.hpp>

namespace outsize::detail {

/// @tparam U  A vector key (is_vector_key).
template <typename U>
class number_items : public typed_items<U, std::less<>> {
  using base = typed_items<U, std::less<>>;

 public:
  using chunk = typed_chunk<number_items>;

  explicit number_items(typename base::key_form bits,
                        std::shared_ptr<item_reducer const> reducer = {})
      : base({}, bits), combines(reducer != nullptr), reducer_(std::move(reducer)) {}

  bool combines;

  std::size_t reduce(std::span<std::byte> items) const {
    return combines ? reducer_->reduce(items) : reduce_sorted<base>(*this, items);
  }
  void combine(std::byte* first, std::byte const* second) const {
    if (combines) reducer_->combine(first, second);
  }

 private:
  std::shared_ptr<item_reducer const> reducer_;
};

}  // namespace outsize::detail
