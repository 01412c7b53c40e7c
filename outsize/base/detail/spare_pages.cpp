// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/spare_pages.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include <outsize/base/assert.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {

void spare_pages::put(std::byte* place, std::size_t bytes) {
  auto const [at, is_new] = stretches_.emplace(place, bytes);
  bytes_ += bytes;
  if (auto const after = std::next(at);
      after != stretches_.end() && at->first + at->second == after->first) {
    at->second += after->second;
    stretches_.erase(after);
  }
  if (at == stretches_.begin()) return;
  if (auto const before = std::prev(at); before->first + before->second == at->first) {
    before->second += at->second;
    stretches_.erase(at);
  }
}

std::byte* spare_pages::take(std::size_t bytes) {
  auto const found =
      std::ranges::find_if(stretches_, [bytes](auto const& s) { return s.second >= bytes; });
  if (found == stretches_.end()) return nullptr;
  std::byte* const place = found->first;
  // The node is kept for what is left: nothing is allocated here.
  auto node = stretches_.extract(found);
  node.key() += bytes;
  node.mapped() -= bytes;
  if (node.mapped() > 0) stretches_.insert(std::move(node));
  bytes_ -= bytes;
  return place;
}

void spare_pages::keep_at_most(std::size_t bytes) noexcept {
  while (bytes_ > bytes) {
    auto& [place, length] = *std::prev(stretches_.end());
    std::size_t const gone = std::min(length, round_up(bytes_ - bytes, page_bytes()));
    int const outcome = ::munmap(place + length - gone, gone);
    // The system may have no room to note one more gap.
    OUTSIZE_ASSERT(outcome == 0 || errno == ENOMEM);
    length -= gone;
    bytes_ -= gone;
    if (length == 0) stretches_.erase(std::prev(stretches_.end()));
  }
}

}  // namespace outsize::detail
