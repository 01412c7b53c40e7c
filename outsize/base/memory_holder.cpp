// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_holder.hpp>

#include <utility>

#include <outsize/base/detail/memory_registry.hpp>

namespace outsize {

using detail::this_thread;

memory_holder::memory_holder(grant& memory, memory_giver& giver, memory_claim const& claim)
    : registry_(*memory.account_->budget.registry_), giver_(giver), account_(*memory.account_) {
  used_at_ = registry_.clock();
  registry_.add(*this, claim);
}

memory_holder::~memory_holder() {
  if (!account_.process().is_current()) return;
  mutex_.lock();
  registry_.remove(*this);
  mutex_.unlock();
}

void memory_holder::lock() {
  mutex_.lock();
  owner_.store(&this_thread, std::memory_order_relaxed);
  note_use();
}

void memory_holder::unlock() noexcept {
  if (!account_.process().is_current()) return;
  // Whoever makes a wish tries the gate afterwards: one of both sees the other.
  do {
    if (wish_.load(std::memory_order_relaxed) != 0) registry_.fulfil_wish(*this);
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
    if (wish_.load() == 0 || !mutex_.try_lock()) return;
    owner_.store(&this_thread, std::memory_order_relaxed);
  } while (true);
}

void memory_holder::claim(memory_claim const& now, std::uint64_t in_need_bytes) {
  registry_.set_claim(*this, now, in_need_bytes);
}

std::uint64_t memory_holder::share_of(memory_claim const& claim) const {
  return registry_.share_of(*this, claim);
}

void memory_holder::note_use() noexcept {
  used_at_.store(registry_.clock(), std::memory_order_relaxed);
}

void memory_holder::note_moved(std::uint64_t bytes) noexcept { registry_.advance_clock(bytes); }

bool memory_holder::grow(std::uint64_t bytes) {
  if (!registry_.reserve_free(bytes) && !registry_.reserve_to_grow(*this, bytes)) return false;
  account_.extend(bytes);
  return true;
}

memory_holder::safe_point::safe_point(memory_holder& holder) noexcept
    : before_(std::exchange(this_thread.safe, &holder)) {}

memory_holder::safe_point::~safe_point() { this_thread.safe = before_; }

}  // namespace outsize
