// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/page_run_writer.hpp>

#include <algorithm>
#include <utility>

namespace outsize::detail {

page_run_writer::page_run_writer(page_row& row, grant& memory, std::size_t run_bytes)
    : row_(row),
      run_pages_(std::max<std::size_t>(run_bytes / row.page_bytes(), 1)),
      memory_(memory.allocate(buffer_count * run_pages_ * row.page_bytes())),
      first_(row.end()) {}

page_run_writer::~page_run_writer() {
  for (auto& buffer : writes_)
    for (auto const& write : buffer) write->wait_outcome();
}

std::span<std::byte> page_run_writer::next() {
  if (filled_ == run_pages_) write_full();
  std::size_t const place = current_ * run_pages_ + filled_++;
  return memory_.bytes().subspan(place * row_.page_bytes(), row_.page_bytes());
}

void page_run_writer::finish() {
  write_full();
  for (std::size_t i = 0; i < buffer_count; ++i) wait(i);
}

void page_run_writer::write_full() {
  std::size_t const bytes = filled_ * row_.page_bytes();
  row_.reach(row_.begin(), first_ + filled_);
  writes_[current_] = row_.write_past_cache(
      first_, memory_.bytes().subspan(current_ * run_pages_ * row_.page_bytes(), bytes));
  first_ += filled_;
  filled_ = 0;
  current_ = (current_ + 1) % buffer_count;
  wait(current_);
}

void page_run_writer::wait(std::size_t index) {
  for (auto const& write : std::exchange(writes_[index], {})) write->wait();
}

}  // namespace outsize::detail
