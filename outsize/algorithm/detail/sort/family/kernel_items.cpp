// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/family/kernel_items.hpp>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

std::vector<kernel_view> kernel_chunk::sort(kernel_items const& family, executor& threads,
                                            std::size_t most_parts, equal_items equals) {
  return sort_parts(family, threads, most_parts, equals, nullptr);
}

std::vector<kernel_view> kernel_chunk::sort(kernel_items const& family, executor& threads,
                                            std::size_t most_parts, equal_items equals,
                                            buffer& scratch) {
  OUTSIZE_ASSERT(scratch.size() == memory_.size());
  std::swap(memory_, scratch);
  return sort_parts(family, threads, most_parts, equals, &scratch);
}

std::vector<kernel_view> kernel_chunk::sort_parts(kernel_items const& family, executor& threads,
                                                  std::size_t most_parts, equal_items equals,
                                                  buffer* unsorted) {
  constexpr std::size_t least_part_items = 4096;  // below, threads cost more than they bring
  std::size_t const parts = count_ < least_part_items ? 1 : most_parts;
  std::vector<kernel_view> views(parts);
  threads.parallel_for(parts, [&](std::size_t p) {
    std::size_t const begin = count_ * p / parts * item_bytes_;
    std::size_t const bytes = count_ * (p + 1) / parts * item_bytes_ - begin;
    auto const part = memory_.bytes().subspan(begin, bytes);
    if (unsorted != nullptr)
      family.sort(unsorted->bytes().subspan(begin, bytes), part);
    else
      family.sort(part, {});
    std::size_t const left = equals == equal_items::kept ? bytes : family.reduce(part);
    views[p] = kernel_view(part.first(left), item_bytes_);
  });
  return views;
}

}  // namespace outsize::detail
