// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/page_supply.hpp>

#include <algorithm>
#include <stop_token>
#include <utility>

#include <outsize/base/memory_budget.hpp>

namespace outsize::detail {

page_supply::page_supply(std::vector<std::span<std::byte>> parts)
    : parts_(std::move(parts)),
      states_(parts_.size()),
      thread_([this](std::stop_token const& stop) { supply(stop); }) {}

void page_supply::claim(std::size_t index) noexcept {
  auto now = state::untouched;
  if (states_[index].compare_exchange_strong(now, state::claimed)) return;
  states_[index].wait(state::being_supplied);
}

void page_supply::supply(std::stop_token const& stop) noexcept {
  for (std::size_t i = 0; i < parts_.size() && !stop.stop_requested(); ++i) {
    auto now = state::untouched;
    if (!states_[i].compare_exchange_strong(now, state::being_supplied)) continue;
    // Written to as nobody can know it to be useless: what is there are zeros.
    std::byte volatile* const begin = parts_[i].data();
    for (std::size_t at = 0; at < parts_[i].size() && !stop.stop_requested(); at += page_bytes())
      begin[at] = std::byte{0};
    states_[i] = state::claimed;
    states_[i].notify_all();
  }
}

}  // namespace outsize::detail
