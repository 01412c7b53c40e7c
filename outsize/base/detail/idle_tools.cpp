// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/idle_tools.hpp>

namespace outsize::detail {
namespace {

std::atomic<idle_tools_base*> all_kinds{nullptr};

}  // namespace

void idle_tools_base::add() noexcept {
  next_ = all_kinds.load();
  while (!all_kinds.compare_exchange_weak(next_, this)) {
  }
}

void idle_tools_base::drop_all() noexcept {
  for (auto* kind = all_kinds.load(); kind != nullptr; kind = kind->next_) kind->drop();
}

std::size_t idle_tools_base::own_slot() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local std::size_t const number = threads.fetch_add(1, std::memory_order_relaxed);
  return number % slot_count;
}

}  // namespace outsize::detail
