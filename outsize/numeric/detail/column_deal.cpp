// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/column_deal.hpp>

namespace outsize::numeric {

column_deal::column_deal(std::uint64_t record_count, std::uint64_t pile_count, std::uint64_t phase)
    : record_count_(record_count), pile_count_(pile_count), phase_(phase) {
  OUTSIZE_ASSERT(phase < pile_count);
  pile_base_.reserve(pile_count);
  std::uint64_t const end = phase + record_count;
  std::uint64_t pile_begin = 0;
  for (std::uint64_t c = 0; c < pile_count; ++c) {
    std::uint64_t const missing = c < phase ? 1 : 0;
    std::uint64_t const rows = end / pile_count + (end % pile_count > c ? 1 : 0);
    pile_base_.push_back(pile_begin - missing);
    pile_begin += rows > missing ? rows - missing : 0;
  }
  OUTSIZE_ASSERT(pile_begin == record_count);
}

std::uint64_t column_deal::row_count() const noexcept {
  return (phase_ + record_count_ + pile_count_ - 1) / pile_count_;
}

}  // namespace outsize::numeric
