// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Arrays of a priority queue as the catalogue of its file notes them.
//
//   array:   items left, blocks, items of the first block that have left
//   block:   page, length, items, checksum, first item (or a number that stands for it)
//
// Invariant: an array that was read fits the pages of the file, no page is in two blocks, and the
// first items of its blocks are in order. One thread. Layer: container.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/container/detail/priority/queue_file.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>

namespace outsize::detail {

/// How items of a family are encoded in a file, for comparison.
template <typename Family>
std::uint64_t form_of(Family const& family) {
  if constexpr (Family::has_key_codec) {
    auto const number = [](ordered_bits bits) {
      return static_cast<std::uint64_t>(bits.values) * 2 + (bits.descending ? 1 : 0);
    };
    auto const& bits = family.bits();
    if constexpr (requires { bits.key_is_first; })
      return 0x200 + number(bits.key) + 0x10 * bits.key_is_first + 0x20 * bits.both_are_keys +
             0x40 * bits.other_descending;
    else
      return 0x100 + number(bits);
  } else {
    return 0;
  }
}

namespace array_notes {
struct array {
  std::uint64_t items, blocks, skipped;
};
struct block {
  std::uint64_t checksum;
  std::uint32_t page, length_bytes, items, unused;
};
}  // namespace array_notes

/// Notes the blocks of a run from `first_block` on, without the first `skipped` items.
/// @throws as queue_file::writer.
template <typename Family>
void note_array(queue_file::writer& to, run<Family> const& blocks, std::size_t first_block,
                std::size_t skipped, std::uint64_t items) {
  auto const& entries = blocks.entries();
  to.write(array_notes::array{items, entries.size() - first_block, skipped});
  for (std::size_t i = first_block; i < entries.size(); ++i) {
    auto const id = entries[i].id;
    to.write(
        array_notes::block{blocks.checksum_of(i), id.disk, id.length_bytes, entries[i].items, 0});
    if constexpr (has_triggers_beside<Family>)
      to.write({blocks.trigger_of(i), blocks.trigger_bytes()});
    else
      to.write(blocks.trigger_of(i));
  }
}

/// Reads the arrays that a file has.
template <typename Family>
class array_reader {
 public:
  /// `memory` holds the entries of blocks.
  array_reader(Family const& family, queue_file& file, grant& memory)
      : family_(family),
        file_(file),
        memory_(memory),
        in_(file),
        is_used_(file.blocks().pages()),
        trigger_(has_triggers_beside<Family> ? trigger_bytes_of(family)
                                             : sizeof(typename Family::trigger)) {
    for (std::uint64_t page = 0; page < is_used_.size(); ++page)
      is_used_[page] = file.blocks().block(page, 0).offset_bytes == 0;
  }

  struct found {
    run<Family> blocks;
    std::uint64_t first_item;
  };
  /// @throws as queue_file::reader; budget_error; format_error.
  found next() {
    auto const noted = in_.read<array_notes::array>();
    found next{{file_.blocks(), true, memory_, {}, trigger_bytes_of(family_)}, noted.skipped};
    for (std::uint64_t i = 0; i < noted.blocks; ++i) append_block(next.blocks);
    auto const& entries = next.blocks.entries();
    if (entries.empty() || noted.skipped >= entries.front().items)
      file_.refuse("skipped", noted.skipped);
    if (next.blocks.items() - noted.skipped != noted.items) file_.refuse("items", noted.items);
    return next;
  }
  void finish() {
    if (!in_.is_at_end()) file_.refuse("catalogue_bytes", file_.committed().catalogue_bytes);
  }

 private:
  void append_block(run<Family>& to) {
    auto const noted = in_.read<array_notes::block>();
    std::uint64_t const bytes = std::uint64_t{noted.items} * family_.item_bytes();
    bool const is_length = noted.length_bytes <= file_.blocks().block_bytes() &&
                           noted.length_bytes % block_unit_bytes(file_.blocks()) == 0;
    if (!is_length) file_.refuse("length_bytes", noted.length_bytes);
    if (noted.items == 0 || bytes > noted.length_bytes) file_.refuse("items", noted.items);
    if (noted.page >= is_used_.size() || is_used_[noted.page]) file_.refuse("page", noted.page);
    is_used_[noted.page] = true;
    append(to, file_.blocks().block(noted.page, noted.length_bytes), noted);
  }
  void append(run<Family>& to, block::block_id id, array_notes::block const& noted) {
    in_.read(trigger_);
    typename Family::trigger first;
    if constexpr (has_triggers_beside<Family>)
      first = trigger_.data();
    else
      std::memcpy(&first, trigger_.data(), sizeof first);
    std::size_t const count = to.entries().size();
    bool const is_first = count == 0;
    if (!is_first &&
        family_.less()(family_.trigger_key(first), family_.trigger_key(to.trigger_of(count - 1))))
      file_.refuse_order();
    to.append(id, noted.items, 0, first, noted.checksum);
  }

  Family const& family_;
  queue_file& file_;
  grant& memory_;
  queue_file::reader in_;
  std::vector<bool> is_used_;  // pages: by a block that was read, or empty at first
  aligned_bytes trigger_;
};

}  // namespace outsize::detail
