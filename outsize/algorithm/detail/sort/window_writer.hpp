// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The output side of the last merge: rounds as consecutive bytes in a window of memory.
//
// What goes to a window is cut from a round first, and may be merged later, while the next round is
// being cut. Every thread writes its part to its final place, since the sizes of all parts are
// known before. Where equal items are made one, each thread does so in its part, and the parts are
// moved together afterwards. A repetition in the next round is left out; but if equal items are
// combined, the last item stays here until it is known that no other follows:
//
//   window:  | room for the one held back | part 0 | part 1 | … |
//
// One thread at a time cuts, and one, perhaps another, writes. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/merge_round.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {

/// How items follow each other in the output.
struct item_framing {
  enum class kind : std::uint8_t { none, terminator, length_prefix };
  kind how = kind::none;
  char terminator = '\n';

  std::size_t overhead_bytes() const noexcept {
    return how == kind::none ? 0 : how == kind::terminator ? 1 : sizeof(std::uint32_t);
  }
  /// The same in an input whose size is known: items of a file come as they go.
  std::size_t input_overhead_bytes() const noexcept {
    return how == kind::terminator ? overhead_bytes() : 0;
  }
};

/// A contiguous place for items, filled from the front.
class item_place final : public merge_places {
 public:
  explicit item_place(std::span<std::byte> place) : rest_(place) {}
  std::span<std::byte> room() noexcept override { return rest_; }
  void used(std::size_t bytes) noexcept override { rest_ = rest_.subspan(bytes); }

 private:
  std::span<std::byte> rest_;
};

template <typename Family>
class window_writer {
 public:
  using round = merge_round<Family>;
  using part = typename round::part;
  using key_type = typename Family::key_type;

  window_writer(Family const& family, executor& threads, item_framing framing, equal_items equals)
      : family_(family),
        threads_(threads),
        framing_(framing),
        reduces_(family.combines || equals == equal_items::made_one) {
    last_bytes_.reserve(1);  // an empty item has an address, too
  }

  struct written {
    std::size_t bytes;
    std::size_t items;
  };

  /// What a window must have room for besides any one item of a round.
  static std::size_t held_bytes(Family const& family) noexcept {
    return family.combines ? family.item_bytes() : 0;
  }

  /// Cuts as much of the round into parts as fits into a window of `window_bytes`; restricts the
  /// round to that.
  /// @pre a window holds any one item of the round with its framing, and held_bytes().
  std::vector<part> cut(round& r, std::size_t window_bytes) const {
    r.restrict_to_bytes(window_bytes - held_bytes(family_), framing_.overhead_bytes());
    return r.cut(threads_.threads());
  }

  /// The same of items of one size, as one part and without asking for their order. @pre items are
  /// not combined.
  std::vector<part> cut_unordered(round& r, std::size_t window_bytes) const {
    OUTSIZE_ASSERT(!family_.combines);
    OUTSIZE_ASSERT(bytes_of_item(family_) != 0);
    r.restrict_to_any(std::min(window_bytes / bytes_of_item(family_), r.items()));
    return r.cut(1);
  }

  /// Merges what has been cut to the front of `window`. What comes later is cut from later rounds.
  written write(std::vector<part> const& parts, std::span<std::byte> window) {
    std::size_t offset = held_bytes(family_);
    std::vector<output> outputs(parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      outputs[p].begin = window.data() + offset;
      offset += parts[p].bytes + parts[p].items * framing_.overhead_bytes();
    }
    OUTSIZE_ASSERT(offset <= window.size());
    threads_.parallel_for(parts.size(), [&](std::size_t p) {
      outputs[p].end = outputs[p].begin;
      if (reduces_) {
        merge_reduced(parts[p], outputs[p]);
      } else {
        merge_all(parts[p], outputs[p]);
        family_.finish(std::span(outputs[p].begin, outputs[p].end));
      }
    });
    if (!reduces_) return {offset, items_of(parts)};
    written const done = join(outputs, window.data());
    finish(window.first(done.bytes));
    return done;
  }
  /// Both: restricts the round to what has been written.
  written write(round& r, std::span<std::byte> window) {
    return write(cut(r, window.size()), window);
  }

  /// The same without asking for the order of items, which have one size: equal ones are kept.
  /// @pre items are not combined.
  written write_unordered(std::vector<part> const& parts, std::span<std::byte> window) {
    std::byte* end = window.data();
    for (part const& p : parts) end = copy_items(p, end);
    auto const bytes = static_cast<std::size_t>(end - window.data());
    finish(window.first(bytes));
    return {bytes, items_of(parts)};
  }

  /// After the last round: writes the item held back, if there is one.
  written flush(std::span<std::byte> window) {
    if (!family_.combines || !last_) return {0, 0};
    last_ = false;
    std::memcpy(window.data(), last_bytes_.data(), last_bytes_.size());
    family_.finish(window.first(last_bytes_.size()));
    return {last_bytes_.size(), 1};
  }

 private:
  struct output {
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    std::size_t items = 0;
    std::optional<key_type> first;
    std::optional<key_type> last;
  };

  std::byte* store(key_type const& key, std::byte* to) const {
    if (framing_.how == item_framing::kind::length_prefix) {
      auto const length = static_cast<std::uint32_t>(family_.size(key));
      std::memcpy(to, &length, sizeof length);
      to += sizeof length;
    }
    to = family_.store(key, to);
    if (framing_.how == item_framing::kind::terminator)
      *to++ = static_cast<std::byte>(framing_.terminator);
    return to;
  }

  static std::size_t items_of(std::vector<part> const& parts) noexcept {
    std::size_t sum = 0;
    for (part const& p : parts) sum += p.items;
    return sum;
  }

  void merge_all(part const& from, output& out) const {
    out.items = from.items;
    if constexpr (Family::merges_by_copying) {
      item_place place({out.begin, from.bytes});
      merge_items(family_, from, place);
      out.end = out.begin + from.bytes;
    } else {
      auto emit = [&, to = out.begin](key_type const& key) mutable {
        to = store(key, to);
        out.end = to;
      };
      merge_keys(family_, from, emit);
    }
  }

  void merge_reduced(part const& from, output& out) const {
    if constexpr (Family::fixed_size) {
      merge_all(from, out);
      std::size_t const bytes = reduce_sorted(family_, std::span(out.begin, out.end));
      out.end = out.begin + bytes;
      out.items = bytes / bytes_of_item(family_);
      auto const view = family_.block_view(std::span(out.begin, out.end), out.items);
      if (out.items == 0) return;
      out.first = view.key(0);
      out.last = view.key(out.items - 1);
    } else {
      auto emit = [&](key_type const& key) {
        if (out.last && family_.equal(*out.last, key)) return;
        if (!out.first) out.first = key;
        out.last = key;
        out.end = store(key, out.end);
        ++out.items;
      };
      merge_keys(family_, from, emit);
    }
  }

  /// Makes first items that equal the last one before one with it, and closes the gaps.
  written join(std::vector<output> const& outputs, std::byte* window) {
    written sum{0, 0};
    for (output const& out : outputs) {
      if (out.items == 0) continue;
      std::span<std::byte> rest(out.begin, out.end);
      std::size_t items = out.items;
      if (last_ && family_.equal(last_key(), *out.first)) {
        combine_into(family_, last_bytes_.data(), rest.data());
        rest = rest.subspan(family_.size(*out.first) + framing_.overhead_bytes());
        if (--items == 0) continue;
      }
      if (family_.combines && last_) {
        std::memcpy(window + sum.bytes, last_bytes_.data(), last_bytes_.size());
        sum.bytes += last_bytes_.size();
        ++sum.items;
      }
      remember(*out.last);
      if (family_.combines) {
        rest = rest.first(rest.size() - last_bytes_.size());
        --items;
      }
      std::memmove(window + sum.bytes, rest.data(), rest.size());
      sum.bytes += rest.size();
      sum.items += items;
    }
    return sum;
  }

  /// Gives items of one type the form in which they came, by all threads.
  void finish(std::span<std::byte> merged) {
    if constexpr (Family::fixed_size) {
      std::size_t const item = bytes_of_item(family_);
      std::size_t const each = div_up(merged.size() / item, threads_.threads()) * item;
      if (each == 0) return;
      threads_.parallel_for(div_up(merged.size(), each), [&](std::size_t p) {
        family_.finish(merged.subspan(p * each, std::min(each, merged.size() - p * each)));
      });
    }
  }

  // The last item is copied, since its place is gone in the next round.
  void remember(key_type const& key) {
    last_bytes_.resize(family_.size(key));
    family_.store(key, last_bytes_.data());
    last_ = true;
  }
  key_type last_key() const { return family_.view_of_one(last_bytes_).key(0); }

  Family const& family_;
  executor& threads_;
  item_framing framing_;
  bool reduces_;
  bool last_ = false;
  aligned_bytes last_bytes_;
};

}  // namespace outsize::detail
