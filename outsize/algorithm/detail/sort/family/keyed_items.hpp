// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Large items of one size whose order a word decides, for the sorting engine: as records of one
// length (record_items.hpp), of which an index of word and place is sorted.
//
// An item is moved once, when the sorted chunk is merged out, however large it is, and merges
// compare words that they have at hand. Stable. Several threads may use a family; each chunk and
// view is for one at a time. Layer: algorithm. Source: STXXL 2008, section 6.2.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/kernel/detail/item_kernel.hpp>

namespace outsize::detail {

static_assert(!record_place::is_long(most_keyed_bytes) &&
              record_place::is_long(most_keyed_bytes + 1));

/// Words as an order of the bytes of items.
class item_bytes_order {
 public:
  explicit item_bytes_order(std::shared_ptr<item_words const> words) : words_(std::move(words)) {}

  /// `item` lies where one of its type may.
  std::uint64_t prefix(std::string_view item) const {
    return words_->word(reinterpret_cast<std::byte const*>(item.data()));
  }
  static bool prefix_is_whole_key() noexcept { return true; }
  // Asked only when prefixes are equal.
  static int compare(std::string_view, std::string_view) noexcept { return 0; }
  static bool equal_keys(std::string_view, std::string_view) noexcept { return true; }

 private:
  std::shared_ptr<item_words const> words_;
};

/// Where an order lies that views refer to, for all copies of a family.
struct shared_order {
  std::shared_ptr<item_bytes_order const> order;
};

class keyed_chunk;

/// The family of items under such an order.
class keyed_items : private shared_order, public record_items<item_bytes_order> {
  using base = record_items<item_bytes_order>;

 public:
  using chunk = keyed_chunk;
  using trigger = std::uint64_t;

  explicit keyed_items(std::shared_ptr<item_words const> words)
      : shared_order{std::make_shared<item_bytes_order const>(words)},
        base(*shared_order::order, words->item_bytes()) {}

  static trigger make_trigger(record_key_ref const& key) noexcept { return key.prefix; }
  static bool trigger_is_exact(trigger) noexcept { return true; }
  static record_key_ref trigger_key(trigger word) noexcept { return {word, nullptr, 0}; }
  static bool trigger_before(trigger a, trigger b) noexcept { return a < b; }
};

/// A chunk of records that is filled as one of items.
class keyed_chunk : public record_chunk<record_items<item_bytes_order>> {
  using base = record_chunk<record_items<item_bytes_order>>;

 public:
  keyed_chunk(keyed_items const& family, grant& memory, std::size_t bytes)
      : base(memory, bytes), item_bytes_(family.item_bytes()) {}

  std::span<std::byte> room() const noexcept { return base::room(item_bytes_); }
  void grow(std::size_t items) noexcept { base::grow(item_bytes_, items); }

 private:
  std::size_t item_bytes_;
};

}  // namespace outsize::detail
