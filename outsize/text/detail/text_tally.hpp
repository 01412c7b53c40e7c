// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How often each of some byte strings came, as many different ones as fit in a given memory.
//
//   | count length text pad | count length text pad | …  free  … | slot | slot | … | slot |
//
// Entries lie in the order in which they first came. A slot, found by the text's hash, has a part
// of the hash and the place of an entry. Which strings are counted does not depend on the hash
// function as long as they fit. One thread at a time. Layer: text.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <outsize/base/memory_budget.hpp>

namespace outsize::detail {

class text_tally {
 public:
  /// Takes `bytes` from `memory`, which must outlive it.
  text_tally(grant& memory, std::size_t bytes);

  /// Counts `text` once more. Returns false, and changes nothing, if it is new and does not fit.
  bool add(std::string_view text);

  std::size_t size() const noexcept { return size_; }

  /// Calls use(text, count) for all, in the order in which they first came.
  template <typename F>
  void for_each(F const& use) const {
    for (std::size_t at = 0; at < used_;) {
      entry const head = head_at(at);
      use(text_at(at, head), head.count);
      at += stride(head.length);
    }
  }

  void clear() noexcept;

 private:
  struct entry {
    std::uint64_t count;
    std::uint64_t length;
  };
  struct slot {
    std::uint32_t tag;
    std::uint32_t place;  // of the entry, in units of its alignment, from 1; 0: none
  };
  static constexpr std::size_t alignment = alignof(entry);

  static std::size_t stride(std::size_t length) noexcept {
    return sizeof(entry) + (length + alignment - 1) / alignment * alignment;
  }
  entry head_at(std::size_t at) const noexcept {
    entry head;
    std::memcpy(&head, memory_.data() + at, sizeof head);
    return head;
  }
  std::string_view text_at(std::size_t at, entry const& head) const noexcept {
    return {reinterpret_cast<char const*>(memory_.data()) + at + sizeof head, head.length};
  }
  bool insert(slot& where, std::uint32_t tag, std::string_view text);

  buffer memory_;
  std::span<slot> slots_;
  std::size_t room_;  // for entries
  std::size_t used_ = 0;
  std::size_t size_ = 0;
};

}  // namespace outsize::detail
