// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file whose lines are in order already is looked through on its way to the output: each byte is
// read once and written once.
//
//   sample the input ──in order?──► read ─► look through each buffer ─► join at the seams ─► write
//          │ no                               │ out of order              │ out of order
//          ▼                                  ▼                           ▼
//        sort ◄───────────────────────────────┴───────────────────────────┘
//
//   a buffer:   d of the line before\n | whole lines, in order\n | ... | the beginning of one mo
//               └──── seam: joined with what the buffer before ends with ────┘
//
// The sample of 64 places refuses nearly every input that is out of order; what is copied in vain
// costs time, but is never wrong, as the output has no name yet. One thread at a time. Layer:
// algorithm. Items of one size, also if they are only nearly in order: presorted.hpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::detail {

/// What a copy has to know of lines.
struct line_operations {
  char delimiter = '\n';        ///< Ends each line, of the output too.
  std::uint64_t longest_bytes;  ///< Longer lines are for the sort to refuse.
  /// How many whole lines these are, each with its delimiter, if they are in order. From any
  /// thread.
  std::function<std::optional<std::uint64_t>(std::string_view lines)> count_in_order;
  /// Whether line `b` may come behind line `a`.
  std::function<bool(std::string_view a, std::string_view b)> may_follow;
};

/// Those of lines in `order`, which must outlive them.
template <typename Order>
line_operations operations_of_lines(Order const& order, char delimiter,
                                    std::uint64_t longest_bytes) {
  auto const count_in_order = [&order, delimiter](std::string_view lines) {
    std::optional<std::uint64_t> count = 0;
    std::string_view last;
    std::uint64_t last_prefix = 0;
    while (!lines.empty()) {
      std::string_view const line = lines.substr(0, lines.find(delimiter));
      std::uint64_t const prefix = order.prefix(line);
      if (*count > 0 && prefix <= last_prefix &&
          (prefix < last_prefix || order.compare(last, line) > 0))
        return std::optional<std::uint64_t>();
      lines.remove_prefix(line.size() + 1);
      last = line;
      last_prefix = prefix;
      ++*count;
    }
    return count;
  };
  auto const may_follow = [&order](std::string_view a, std::string_view b) {
    return order.compare(a, b) <= 0;
  };
  return {delimiter, longest_bytes, count_in_order, may_follow};
}

/// Copies `input` to `output`, if its lines are in order; the last one gets its delimiter.
///
/// @param bytes  The size of `input`.
/// @return What was done; nothing if this is no case for a copy, and then nothing remains of it.
///
/// I/Os:    4 MiB or less to find out; then `bytes` read and written once.
/// Memory:  48 MiB or a quarter of options.memory_bytes, whichever is less, and two lines.
/// @throws io_error, out_of_space, budget_error, cancelled, as a sort.
std::optional<sort_report> copy_lines_if_in_order(storage& store, line_operations const& operations,
                                                  std::string const& input,
                                                  std::string const& output, std::uint64_t bytes,
                                                  sort_options const& options);

}  // namespace outsize::detail
