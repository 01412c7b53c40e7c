// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Who runs what, who wakes whom, and what nodes do through their ports.
#include <outsize/pipeline/detail/network_run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>

namespace outsize::pipeline::detail {
// ---- threads ----

void network_run::work(worker& w) {
  lock held(mutex_);
  while (!everything_ended() && !stopping_) {
    if (stage_state* const s = pick(w)) {
      run_step(*s, w, held);
      // A group that found no place free sleeps; nodes that wait for one do, too.
      if (!w.own.empty() || !place_queue_.empty() || !what_.groups.empty()) notify_workers();
      continue;
    }
    if (!w.own.empty() &&
        std::all_of(w.own.begin(), w.own.end(), [](stage_state const* s) { return s->ended; }))
      break;
    if (w.own.empty() && grow_a_pool()) continue;
    w.idle = true;
    check_for_deadlock();
    if (!everything_ended() && !stopping_) {
      executor::absence const waits;  // the caller's thread may be in a body of a team
      w.wake.wait(held);
    }
    w.idle = false;
  }
  held.unlock();
  w.bodies.clear();  // what per_thread() made ends on its thread
}

/// Starts a worker that alone runs these stages. The caller has the lock.
void network_run::bind_worker(std::vector<stage_state*> own, bool counts, std::size_t repeat) {
  worker const& w = spawn_worker(std::move(own), counts, repeat);
  for (stage_state* s : w.own) s->bound = true;
}

network_run::worker& network_run::spawn_worker(std::vector<stage_state*> own, bool counts,
                                               std::size_t repeat) {
  worker& w = workers_.emplace_back();
  w.own = std::move(own);
  w.counts = counts;
  w.repeat = repeat;
  w.number = workers_.size();
  try {
    threads_.emplace_back([this, &w] { work(w); });
  } catch (...) {
    workers_.pop_back();
    throw;
  }
  return w;
}

void network_run::run_node(stage_state& s) {
  std::exception_ptr error;
  try {
    {
      lock held(mutex_);
      take_place(s, held);
      s.idle_since_ns = now_ns();
    }
    ports p(*this, s.index);
    s.what->node_body(p);
  } catch (poisoned const&) {  // the error that led to it is known
  } catch (...) {
    error = wrap(s, std::current_exception());
  }
  lock held(mutex_);
  note_work(s, now_ns());
  if (s.has_place) give_place_up(s);
  if (error) stop_all_locked(std::move(error));
  if (!stopping_) {
    end_reading(s);
    end_stage(s);
  }
  notify_workers();  // what it held back may be ready now that nothing more comes
  check_for_deadlock();
}

void network_run::notify(stage_state& s) noexcept {
  if (s.is_node()) {
    s.woken = true;
    s.wake.notify_all();
  } else if (s.bound) {
    for (worker& w : workers_)
      if (std::find(w.own.begin(), w.own.end(), &s) != w.own.end()) w.wake.notify_one();
  }  // shared workers look for themselves: run_step() and whoever lets go of the lock wake them
}

/// Wakes an idle shared worker if there is something for it to do.
void network_run::notify_workers() noexcept {
  if (starter_ != nullptr && starter_->idle && running_ >= places_ &&
      std::any_of(starter_->own.begin(), starter_->own.end(),
                  [this](stage_state const* s) { return ready(*s); }))
    starter_->wake.notify_one();
  if (!place_queue_.empty() && running_ < places_) {
    place_queue_.front()->wake.notify_all();
    return;
  }
  for (worker& w : workers_) {
    if (!w.idle) continue;
    if (!w.own.empty()) {
      if (w.counts) w.wake.notify_one();
      continue;
    }
    if (pick(w) == nullptr) return;
    w.wake.notify_one();
    return;
  }
}

/// Its thread will not come into its ports again.
void network_run::end_external(stage_state& s) {
  note_work(s, now_ns());
  --externals_outside_;
  end_reading(s);
  end_stage(s);
}

void network_run::take_place(stage_state& s, lock& held) {
  if (s.what->kind == stage_kind::external) return;
  s.waiting_for = "a thread";
  place_queue_.push_back(&s);
  s.wake.wait(held,
              [&] { return stopping_ || (running_ < places_ && place_queue_.front() == &s); });
  place_queue_.erase(std::find(place_queue_.begin(), place_queue_.end(), &s));
  s.waiting_for.clear();
  s.wants_place = false;
  if (stopping_) throw poisoned();
  s.has_place = true;
  ++running_;
  notify_workers();
}

void network_run::give_place_up(stage_state& s) {
  s.has_place = false;
  --running_;
  notify_workers();
}

/// Waits until something has changed for `s`, without its place meanwhile.
void network_run::wait_in_port(stage_state& s, std::string what, lock& held) {
  bool const external = s.what->kind == stage_kind::external;
  std::int64_t const begin = now_ns();
  note_work(s, begin);
  s.waiting_for = std::move(what);
  s.woken = false;
  if (external) {
    --externals_outside_;
    ++externals_inside_;
    notify_workers();
  } else {
    give_place_up(s);
  }
  check_for_deadlock();
  {
    executor::absence const waits;  // an external one may be in a body of a team
    s.wake.wait(held, [&] { return s.woken || stopping_; });
  }
  s.waiting_for.clear();
  if (external) {
    ++externals_outside_;
    if (--externals_inside_ == 0) changed_.notify_all();
  } else if (!stopping_) {
    s.wants_place = true;
    take_place(s, held);
  }
  s.idle_since_ns = now_ns();
  s.input_wait_ns += s.idle_since_ns - begin;
  if (stopping_) throw poisoned();
}

// ---- ports ----

std::optional<pooled_buffer> network_run::accept(std::size_t stage, std::size_t input) {
  check_process();
  lock held(mutex_);
  stage_state& s = *stages_[stage];
  OUTSIZE_ASSERT(input < s.inputs.size());
  edge& e = *s.inputs[input];
  for (;;) {
    if (stopping_) throw poisoned();
    if (!e.waiting.empty()) break;
    if (e.closed) return std::nullopt;
    wait_in_port(s, fmt::format("a buffer at input {}", input), held);
  }
  return accept_first(s, e);
}

/// @pre a buffer waits there.
pooled_buffer network_run::accept_first(stage_state& s, edge& e) {
  thumbnail* const t = e.waiting.front();
  e.waiting.pop_front();
  ++s.steps;
  notify(*e.writer);
  notify_workers();
  return pooled_buffer(*t);
}

std::optional<pooled_buffer> network_run::try_accept(std::size_t stage, std::size_t input) {
  check_process();
  lock const held(mutex_);
  stage_state& s = *stages_[stage];
  OUTSIZE_ASSERT(input < s.inputs.size());
  if (stopping_) throw poisoned();
  edge& e = *s.inputs[input];
  if (e.waiting.empty()) return std::nullopt;
  return accept_first(s, e);
}

bool network_run::ended(std::size_t stage, std::size_t input) const {
  check_process();
  lock const held(mutex_);
  OUTSIZE_ASSERT(input < stages_[stage]->inputs.size());
  if (stopping_) throw poisoned();
  edge const& e = *stages_[stage]->inputs[input];
  return e.closed && e.waiting.empty();
}

bool network_run::has_room(std::size_t stage, std::size_t output) const {
  check_process();
  lock const held(mutex_);
  OUTSIZE_ASSERT(output < stages_[stage]->outputs.size());
  if (stopping_) throw poisoned();
  edge const* const e = stages_[stage]->outputs[output];
  return e == nullptr || e->refused || e->waiting.size() < e->room;
}

bool network_run::wanted(std::size_t stage, std::size_t output) const {
  check_process();
  lock const held(mutex_);
  OUTSIZE_ASSERT(output < stages_[stage]->outputs.size());
  if (stopping_) throw poisoned();
  edge const* const e = stages_[stage]->outputs[output];
  return e == nullptr || !e->refused;
}

void network_run::wait(std::size_t stage) {
  check_process();
  lock held(mutex_);
  stage_state& s = *stages_[stage];
  if (stopping_) throw poisoned();
  if (!s.woken) wait_in_port(s, "anything at its ports", held);
  s.woken = false;
}

void network_run::note(std::size_t stage, std::uint64_t items, std::uint64_t bytes) {
  check_process();
  lock const held(mutex_);
  if (stopping_) throw poisoned();
  stages_[stage]->items += items;
  stages_[stage]->bytes += bytes;
  finished_bytes_ += bytes;
}

pooled_buffer network_run::take(std::size_t stage, std::size_t pool) {
  check_process();
  lock held(mutex_);
  stage_state& s = *stages_[stage];
  OUTSIZE_ASSERT(pool < s.pools.size());
  pool_state& p = *s.pools[pool];
  for (;;) {
    if (stopping_) throw poisoned();
    if (!p.free.empty()) break;
    if (!grow_a_pool()) wait_in_port(s, fmt::format("a buffer of pool '{}'", p.options.name), held);
  }
  return take_free(p, held);
}

/// @pre there is a free one. Lets the lock go.
pooled_buffer network_run::take_free(pool_state& p, lock& held) {
  thumbnail* const t = p.free.back();
  p.free.pop_back();
  t->round = p.sent++;
  held.unlock();
  t->user.reset();
  return pooled_buffer(*t);
}

std::optional<pooled_buffer> network_run::try_take(std::size_t stage, std::size_t pool) {
  check_process();
  lock held(mutex_);
  pool_state& p = *stages_[stage]->pools[pool];
  if (stopping_) throw poisoned();
  if (p.free.empty()) return std::nullopt;
  return take_free(p, held);
}

std::optional<pooled_buffer> network_run::take_unless_stalled(std::size_t stage, std::size_t pool) {
  check_process();
  lock held(mutex_);
  stage_state& s = *stages_[stage];
  OUTSIZE_ASSERT(pool < s.pools.size());
  pool_state& p = *s.pools[pool];
  s.must_help = false;
  for (;;) {
    if (stopping_) throw poisoned();
    if (!p.free.empty()) return take_free(p, held);
    if (std::exchange(s.must_help, false)) return std::nullopt;
    if (grow_a_pool()) continue;
    s.can_help = true;
    wait_in_port(s, fmt::format("a buffer of pool '{}'", p.options.name), held);
    s.can_help = false;
  }
}

bool network_run::convey(std::size_t stage, pooled_buffer b, std::size_t output) {
  check_process();
  stage_state& s = *stages_[stage];
  OUTSIZE_ASSERT(output < s.outputs.size());
  thumbnail* const t = b.release();
  OUTSIZE_ASSERT(t != nullptr);
  edge* const e = s.outputs[output];
  drop_user_value(s, {t, verdict::convey, output});
  lock held(mutex_);
  try {
    while (e != nullptr && !e->refused && !stopping_ && e->waiting.size() >= e->room)
      wait_in_port(s, fmt::format("room at output {}", output), held);
  } catch (...) {
    send_home(*t);
    throw;
  }
  if (stopping_) {
    send_home(*t);
    throw poisoned();
  }
  s.bytes += t->used_bytes;
  bool const wanted = e == nullptr || !e->refused;
  send(s, *t, output);
  notify_workers();
  return wanted;
}

void network_run::close(std::size_t stage, std::size_t output) {
  check_process();
  lock held(mutex_);
  stage_state& s = *stages_[stage];
  OUTSIZE_ASSERT(output < s.outputs.size());
  close_output(s, output);
  if (s.what->kind == stage_kind::external && !s.ended &&
      std::all_of(s.outputs.begin(), s.outputs.end(),
                  [](edge const* e) { return e == nullptr || e->closed; }))
    end_external(s);
  notify_workers();
  check_for_deadlock();
}

/// An external node is outside whenever it is in no port.
void network_run::leave(std::size_t stage) {
  check_process();
  lock const held(mutex_);
  if (stopping_) throw poisoned();
  stage_state& s = *stages_[stage];
  if (s.what->kind == stage_kind::external) return;
  note_work(s, now_ns());
  s.idle_since_ns = now_ns();
  ++externals_outside_;
  give_place_up(s);
}

/// Once the network has stopped it has no place, and its next call throws.
void network_run::come_back(std::size_t stage) noexcept {
  lock held(mutex_);
  stage_state& s = *stages_[stage];
  if (s.what->kind == stage_kind::external) return;
  --externals_outside_;
  std::int64_t const begin = s.idle_since_ns;
  if (!stopping_) try {
      s.wants_place = true;
      take_place(s, held);
    } catch (poisoned const&) {
    }
  s.idle_since_ns = now_ns();
  s.other_wait_ns += s.idle_since_ns - begin;
}

void network_run::check() const {
  check_process();
  lock const held(mutex_);
  if (stopping_) throw poisoned();
}

}  // namespace outsize::pipeline::detail
