// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The output side of the last merge: rounds as consecutive bytes in a window of memory.
//
// Every thread writes its part to its final place, since the sizes of all parts are known before.
// With `unique` items that equal the one before are left out, and the parts are moved together
// afterwards. One thread at a time uses a writer. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <outsize/algorithm/sort/merge_round.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>

namespace outsize::detail {

/// How items follow each other in the output.
struct item_framing {
  enum class kind : std::uint8_t { none, terminator, length_prefix };
  kind how = kind::none;
  char terminator = '\n';

  std::size_t overhead_bytes() const noexcept {
    return how == kind::none ? 0 : how == kind::terminator ? 1 : sizeof(std::uint32_t);
  }
};

/// A contiguous place for items, filled from the front.
template <typename T>
class item_place {
 public:
  item_place(std::byte* begin, std::size_t count) : rest_(reinterpret_cast<T*>(begin), count) {}
  std::span<T> room() const noexcept { return rest_; }
  void used(std::size_t count) noexcept { rest_ = rest_.subspan(count); }

 private:
  std::span<T> rest_;
};

template <typename Family>
class window_writer {
 public:
  using round = merge_round<Family>;
  using key_type = typename Family::key_type;

  window_writer(Family const& family, executor& threads, item_framing framing, bool unique)
      : family_(family), threads_(threads), framing_(framing), unique_(unique) {
    last_bytes_.reserve(1);  // an empty item has an address, too
  }

  struct written {
    std::size_t bytes;
    std::size_t items;
  };

  /// Writes as much of the round as fits to the front of `window`; restricts the round to that.
  /// @pre window holds any one item of the round with its framing.
  written write(round& r, std::span<std::byte> window) {
    r.restrict_to_bytes(window.size(), framing_.overhead_bytes());
    auto const parts = r.cut(threads_.threads());
    std::vector<output> outputs(parts.size());
    std::size_t offset = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      outputs[p].begin = window.data() + offset;
      offset += parts[p].bytes + parts[p].items * framing_.overhead_bytes();
    }
    OUTSIZE_ASSERT(offset <= window.size());
    threads_.parallel_for(parts.size(), [&](std::size_t p) {
      outputs[p].end = outputs[p].begin;
      if (unique_) {
        merge_unique(r, parts[p], outputs[p]);
      } else {
        merge_all(r, parts[p], outputs[p]);
      }
      family_.finish(std::span(outputs[p].begin, outputs[p].end));
    });
    if (unique_) return join_unique(outputs, window.data());
    return {offset, r.items()};
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
    to = Family::store(key, to);
    if (framing_.how == item_framing::kind::terminator)
      *to++ = static_cast<std::byte>(framing_.terminator);
    return to;
  }

  void merge_all(round const& r, typename round::part const& part, output& out) const {
    out.items = part.items;
    if constexpr (Family::merges_by_copying) {
      item_place<typename Family::item> place(out.begin, part.items);
      r.merge_into(part, place);
      out.end = out.begin + part.bytes;
    } else {
      auto emit = [&, to = out.begin](key_type const& key) mutable {
        to = store(key, to);
        out.end = to;
      };
      r.merge(part, emit);
    }
  }

  void merge_unique(round const& r, typename round::part const& part, output& out) const {
    auto emit = [&](key_type const& key) {
      if (out.last && family_.equal(*out.last, key)) return;
      if (!out.first) out.first = key;
      out.last = key;
      out.end = store(key, out.end);
      ++out.items;
    };
    r.merge(part, emit);
  }

  /// Drops first items that equal the last one before, and closes the gaps.
  written join_unique(std::vector<output> const& outputs, std::byte* window) {
    written sum{0, 0};
    for (output const& out : outputs) {
      if (out.items == 0) continue;
      bool const repeats = last_ && family_.equal(last_key(), *out.first);
      std::size_t const dropped =
          repeats ? family_.size(*out.first) + framing_.overhead_bytes() : 0;
      std::size_t const kept = static_cast<std::size_t>(out.end - out.begin) - dropped;
      std::memmove(window + sum.bytes, out.begin + dropped, kept);
      sum.bytes += kept;
      sum.items += out.items - (repeats ? 1 : 0);
      remember(*out.last);
    }
    return sum;
  }

  // The last item is copied, since its block is gone in the next round.
  void remember(key_type const& key) {
    last_bytes_.resize(family_.size(key));
    Family::store(key, last_bytes_.data());
    last_ = true;
  }
  key_type last_key() const { return family_.view_of_one(last_bytes_).key(0); }

  Family const& family_;
  executor& threads_;
  item_framing framing_;
  bool unique_;
  bool last_ = false;
  std::vector<std::byte> last_bytes_;
};

}  // namespace outsize::detail
