// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/sorted_window.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace outsize::detail {
namespace {

bool is_in(buffer const& memory, sorted_window const& window) noexcept {
  std::less<> const before;  // also of pointers into different arrays
  std::byte const* const at = window.memory.data();
  return !before(at, memory.data()) && before(at, memory.data() + memory.size());
}

}  // namespace

void windows_at_large::keep(buffer&& memory, std::span<window_place const> places) {
  kept k{std::move(memory), 0, 0};
  for (window_place const& place : places) {
    if (place.is_lent) {
      k.lent_bytes += place.bytes;
      ++k.count;
    } else {
      k.memory.release_pages(place.offset, place.bytes);
    }
  }
  if (k.count > 0) kept_.push_back(std::move(k));
}

bool windows_at_large::have(sorted_window const& window) const noexcept {
  return std::ranges::any_of(kept_, [&](kept const& k) { return is_in(k.memory, window); });
}

void windows_at_large::recycle(sorted_window const& window) noexcept {
  auto const k =
      std::ranges::find_if(kept_, [&](kept const& one) { return is_in(one.memory, window); });
  if (--k->count == 0) kept_.erase(k);
}

std::uint64_t windows_at_large::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (kept const& k : kept_) sum += k.lent_bytes;
  return sum;
}

}  // namespace outsize::detail
