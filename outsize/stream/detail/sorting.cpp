// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/detail/sorting.hpp>

#include <algorithm>

#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize::stream::detail {
namespace {

/// Returns the memory with which any sort of such items can begin, with the shortest blocks that
/// they do not fill.
std::uint64_t least_bytes(storage& store, sort_options const& options, std::size_t item_bytes) {
  sort_options const least = with_memory(options, 1);
  bool const is_long = item_bytes > least.block_bytes;
  std::uint64_t const bytes = needs_of({.item_bytes = item_bytes,
                                        .chunk_entry_bytes = item_bytes == 0 ? 16U : 0U,
                                        .block_bytes = is_long ? 0 : least.block_bytes,
                                        .threads = store.threads().threads()})
                                  .least_bytes;
  return is_long ? bytes
                 : bytes + bytes / 4;  // the order may need more for each item than is known here
}

std::optional<std::uint64_t> bytes_of(boundary_base const& b) {
  auto const known = b.count.bytes(b.item_bytes());
  return known ? known : b.expected_bytes;
}

/// Named memory is all that is claimed. A count that is not known may turn out larger than is
/// expected, so that more is of use then.
memory_claim claim_of(storage& store, sort_options const& options, boundary_base const& b,
                      double part) {
  std::uint64_t const all = store.memory().total_bytes();
  if (options.memory_bytes != 0) return memory_claim::fixed(options.memory_bytes);
  std::uint64_t const least = least_bytes(store, options, b.item_bytes());
  std::uint64_t knee = all / 2, most = all;
  if (auto const bytes = bytes_of(b)) {
    sort_needs const needs = needs_of({.memory_bytes = all,
                                       .input_bytes = *bytes,
                                       .item_bytes = b.item_bytes(),
                                       .threads = store.threads().threads()});
    knee = needs.knee_bytes;
    if (b.count.bytes(b.item_bytes())) most = needs.most_bytes;
  }
  most = std::max(least, std::min(most, all));
  knee = std::clamp(static_cast<std::uint64_t>(static_cast<double>(knee) * part), least, most);
  return {least, knee, most};
}

}  // namespace

memory_claim claim_of_input(storage& store, sort_options const& options, boundary_base const& of) {
  return claim_of(store, options, of, 1);
}

/// A merge has at most three quarters of the memory of a sort.
memory_claim claim_of_output(storage& store, sort_options const& options, boundary_base const& of) {
  return claim_of(store, options, of, 0.75);
}

}  // namespace outsize::stream::detail
