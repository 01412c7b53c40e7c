// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/scheduler.hpp>

#include <outsize/base/assert.hpp>

namespace outsize::bsp::detail {

scheduler::scheduler(std::uint32_t count, std::uint32_t workers)
    : entries_(count),
      ready_present_(workers),
      ready_absent_(workers),
      active_(workers),
      unended_(workers),
      ready_(count),
      left_(count) {
  OUTSIZE_ASSERT(count > 0 && workers > 0);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    ++unended_[worker_of(rank)];
    queue_of(rank)->insert(order_of(rank));
  }
}

scheduler::queue* scheduler::queue_of(std::uint32_t rank) {
  entry const& e = entries_[rank];
  if (e.doing == activity::waiting) return e.has_memory ? &waiting_ : nullptr;
  if (e.doing != activity::ready || active_[worker_of(rank)] == rank) return nullptr;
  if (e.memory == presence::present) return &ready_present_[worker_of(rank)];
  if (e.memory == presence::absent) return &ready_absent_[worker_of(rank)];
  return nullptr;
}

template <typename Change>
void scheduler::change(std::uint32_t rank, Change const& how) {
  entry& e = entries_[rank];
  activity const before = e.doing;
  if (queue* const left = queue_of(rank)) left->erase(order_of(rank));
  how(e);
  if (e.doing != before) {
    running_ += (e.doing == activity::running) - (before == activity::running);
    ready_ += (e.doing == activity::ready) - (before == activity::ready);
    e.turn = ++turn_;
  }
  if (queue* const entered = queue_of(rank)) entered->insert(order_of(rank));
}

std::optional<std::uint32_t> scheduler::start_next(std::uint32_t worker) {
  if (active_[worker]) {
    std::uint32_t const rank = *active_[worker];
    if (activity_of(rank) != activity::ready || presence_of(rank) != presence::present) {
      return std::nullopt;
    }
    change(rank, [](entry& e) { e.doing = activity::running; });
    return rank;
  }
  queue const& able = ready_present_[worker];
  if (able.empty()) return std::nullopt;
  std::uint32_t const rank = able.begin()->second;
  change(rank, [](entry& e) { e.doing = activity::running; });
  active_[worker] = rank;
  return rank;
}

void scheduler::park(std::uint32_t rank) {
  OUTSIZE_ASSERT(activity_of(rank) == activity::running);
  if (entries_[rank].needs_memory) {
    change(rank, [](entry& e) {
      e.doing = activity::ready;
      e.memory = presence::absent;
      e.needs_memory = false;
    });
    return;
  }
  active_[worker_of(rank)].reset();
  change(rank, [](entry& e) {
    e.doing = e.woken ? activity::ready : activity::waiting;
    if (e.woken) e.polls = false;
    e.woken = false;
  });
}

bool scheduler::wake_pollers() {
  bool is_any = false;
  for (std::uint32_t rank = 0; rank < count(); ++rank) {
    if (activity_of(rank) != activity::waiting || !entries_[rank].polls) continue;
    wake(rank);
    is_any = true;
  }
  return is_any;
}

void scheduler::wake(std::uint32_t rank) {
  entry& now = entries_[rank];
  if (now.doing == activity::waiting) {
    now.polls = false;
    change(rank, [](entry& e) { e.doing = activity::ready; });
  } else if (now.doing != activity::ended) {
    now.woken = true;
  }
}

void scheduler::end(std::uint32_t rank) {
  OUTSIZE_ASSERT(activity_of(rank) != activity::ended);
  std::optional<std::uint32_t>& active = active_[worker_of(rank)];
  if (active == rank) active.reset();
  change(rank, [](entry& e) {
    e.doing = activity::ended;
    e.memory = presence::absent;
    e.has_memory = false;
  });
  --unended_[worker_of(rank)];
  --left_;
}

void scheduler::resume_in_need(std::uint32_t rank) {
  OUTSIZE_ASSERT(active_[worker_of(rank)] == rank && activity_of(rank) == activity::ready);
  change(rank, [](entry& e) { e.memory = presence::present; });
}

void scheduler::abandon(std::uint32_t rank) { end(rank); }

bool scheduler::is_stuck() const noexcept { return left_ != 0 && running_ == 0 && ready_ == 0; }

std::uint32_t scheduler::come(std::uint32_t rank) {
  change(rank, [](entry& e) {
    e.memory = presence::coming;
    e.has_memory = true;
  });
  return rank;
}

std::optional<std::uint32_t> scheduler::incoming_in_need() {
  for (std::optional<std::uint32_t> const& active : active_) {
    if (active && presence_of(*active) == presence::absent) return come(*active);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> scheduler::incoming() {
  queue const* best = nullptr;
  std::size_t fewest = 0;
  for (std::uint32_t worker = 0; worker < workers(); ++worker) {
    if (ready_absent_[worker].empty()) continue;
    std::size_t const able = ready_present_[worker].size();
    if (best == nullptr || able < fewest) {
      best = &ready_absent_[worker];
      fewest = able;
    }
  }
  if (best == nullptr) return std::nullopt;
  for (order const& candidate : *best) {
    if (entries_[candidate.second].has_memory) return come(candidate.second);
  }
  return come(best->begin()->second);
}

void scheduler::arrived(std::uint32_t rank) {
  OUTSIZE_ASSERT(presence_of(rank) == presence::coming);
  change(rank, [](entry& e) { e.memory = presence::present; });
}

bool scheduler::can_run() const {
  for (std::uint32_t worker = 0; worker < workers(); ++worker) {
    if (active_[worker] || !ready_present_[worker].empty()) return true;
  }
  return false;
}

std::optional<std::uint32_t> scheduler::victim(bool is_for_one_in_need) const {
  if (!waiting_.empty()) return waiting_.begin()->second;
  if (!is_for_one_in_need) return std::nullopt;
  std::optional<order> last;
  for (std::uint32_t worker = 0; worker < workers(); ++worker) {
    for (queue const* const ready : {&ready_absent_[worker], &ready_present_[worker]}) {
      for (auto at = ready->rbegin(); at != ready->rend(); ++at) {
        if (!entries_[at->second].has_memory) continue;
        if (!last || *last < *at) last = *at;
        break;
      }
    }
  }
  return last ? std::optional(last->second) : std::nullopt;
}

void scheduler::losing(std::uint32_t rank, bool is_last) {
  change(rank, [&](entry& e) {
    e.memory = presence::absent;
    if (is_last) e.has_memory = false;
  });
}

}  // namespace outsize::bsp::detail
