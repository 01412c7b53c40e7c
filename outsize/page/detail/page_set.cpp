// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/page_set.hpp>

#include <iterator>
#include <new>

namespace outsize::detail {

page_set::page_set(std::shared_ptr<page_row> row) : row_(std::move(row)) {
  for (std::uint64_t page = row_->begin(); page < row_->end(); ++page)
    if (row_->holds_zeros(page)) free_.insert(page);
}

std::uint64_t page_set::take() {
  if (!free_.empty()) return free_.extract(free_.begin()).value();
  row_->reach(0, row_->end() + 1);
  return row_->end() - 1;
}

void page_set::give(std::span<std::uint64_t const> pages) noexcept {
  for (std::uint64_t const page : pages) {
    row_->vacate(page);
    try {
      free_.insert(page);
    } catch (std::bad_alloc const&) {
      continue;  // without a number to ask for, it stays empty
    }
  }
  std::uint64_t end = row_->end();
  for (; !free_.empty() && *free_.rbegin() == end - 1; --end) free_.erase(std::prev(free_.end()));
  if (end < row_->end()) row_->reach(0, end);
}

}  // namespace outsize::detail
