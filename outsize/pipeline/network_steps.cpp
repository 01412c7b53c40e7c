// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Which stage may run, and what one step of it does.
#include <outsize/pipeline/detail/network_run.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace outsize::pipeline::detail {
namespace {

/// What this thread has done so far.
thread_usage usage_of_thread() {
  rusage u{};
  ::getrusage(RUSAGE_THREAD, &u);
  auto const ns = [](timeval const& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
  };
  return {ns(u.ru_utime) + ns(u.ru_stime), u.ru_nvcsw};
}

/// To wake another worker costs more than such a step: this one will look for more work before the
/// other is awake.
bool is_known_to_be_short(stage_state const& s) {
  constexpr std::uint64_t enough = 16;
  constexpr std::int64_t short_ns = 2000;
  return s.steps >= enough && s.busy_ns < static_cast<std::int64_t>(s.steps) * short_ns;
}

}  // namespace

// ---- what may run ----

edge* network_run::chosen_input(stage_state const& s) const {
  if (s.what->accept == order::kept && s.inputs.size() > 1) {
    // In turns, where lines that have ended are passed over.
    for (std::size_t n = 0; n < s.inputs.size(); ++n) {
      edge* const e = s.inputs[(s.next_input + n) % s.inputs.size()];
      if (!e->waiting.empty()) return e;
      if (!e->closed) return nullptr;
    }
    return nullptr;
  }
  for (edge* e : s.inputs)
    if (!e->waiting.empty()) return e;
  return nullptr;
}

bool network_run::has_input(stage_state const& s) const {
  if (s.source != nullptr)
    return !s.source->free.empty() && s.source->sent < s.source->options.rounds;
  edge const* const e = chosen_input(s);
  if (e == nullptr) return false;
  if (s.what->kind != stage_kind::barrier || s.quota > 0) return true;
  return e->waiting.size() >= s.what->barrier_rounds || e->closed;
}

bool network_run::input_ended(stage_state const& s) const {
  if (s.source != nullptr) return s.source->sent >= s.source->options.rounds;
  return std::all_of(s.inputs.begin(), s.inputs.end(),
                     [](edge const* e) { return e->closed && e->waiting.empty(); });
}

bool network_run::has_room(stage_state const& s) const {
  if (s.outputs.size() != 1 || s.outputs[0] == nullptr) return true;
  edge const& e = *s.outputs[0];
  return e.room == SIZE_MAX || e.waiting.size() + s.active + s.early.size() < e.room;
}

bool network_run::ready(stage_state const& s) const {
  return !s.is_node() && !s.ended && !s.ending && !s.beginning && s.active < s.replicas &&
         has_input(s) && (s.auxiliaries == nullptr || !s.auxiliaries->free.empty()) && has_room(s);
}

stage_state* network_run::pick(worker& w) {
  if (stopping_) return nullptr;
  if (!w.own.empty()) return pick_own(w);
  if (running_ >= places_ || !place_queue_.empty()) return nullptr;
  if (stage_state* const s = stage_of_warm_buffer(w)) return s;
  for (auto s = stages_.rbegin(); s != stages_.rend(); ++s)
    if (!(*s)->bound && ready(**s)) return s->get();
  return nullptr;
}

/// The stage that would be given the buffer this worker has just worked on; it is in its cache.
stage_state* network_run::stage_of_warm_buffer(worker const& w) const {
  if (w.went_to == nullptr) return nullptr;
  stage_state& s = *w.went_to->reader;
  bool const is_next =
      !s.bound && ready(s) && chosen_input(s) == w.went_to && w.went_to->waiting.front() == w.warm;
  return is_next ? &s : nullptr;
}

stage_state* network_run::pick_own(worker& w) {
  if (w.counts && (running_ >= places_ || !place_queue_.empty())) return nullptr;
  if (w.runs < w.repeat && ready(*w.own[w.turn])) {
    ++w.runs;
    return w.own[w.turn];
  }
  // Its turn is over, or it has nothing to do: the next one that has.
  for (std::size_t n = 1; n <= w.own.size(); ++n) {
    std::size_t const next = (w.turn + n) % w.own.size();
    if (!ready(*w.own[next])) continue;
    w.turn = next;
    w.runs = 1;
    return w.own[next];
  }
  return nullptr;
}

thumbnail* network_run::take_input(stage_state& s) {
  if (s.source != nullptr) {
    pool_state& p = *s.source;
    thumbnail* const t = p.free.back();
    p.free.pop_back();
    t->round = p.sent++;
    t->last = p.sent == p.options.rounds;
    return t;
  }
  edge& e = *chosen_input(s);
  thumbnail* const t = e.waiting.front();
  e.waiting.pop_front();
  if (s.what->kind == stage_kind::barrier) {
    if (s.quota == 0) s.quota = std::min(s.what->barrier_rounds, e.waiting.size() + 1);
    --s.quota;
  }
  if (s.inputs.size() > 1 && s.what->accept == order::kept) {
    auto const at = std::find(s.inputs.begin(), s.inputs.end(), &e) - s.inputs.begin();
    s.next_input = (static_cast<std::size_t>(at) + 1) % s.inputs.size();
  }
  if (e.room != SIZE_MAX) notify(*e.writer);
  return t;
}

// ---- steps ----

network_run::step network_run::begin_step(stage_state& s) {
  step st;
  st.begin_ns = now_ns();
  st.buffer = take_input(s);
  st.round = st.buffer->round;
  st.ticket = s.next_ticket++;
  if (s.auxiliaries != nullptr) {
    st.auxiliary = s.auxiliaries->free.back();
    s.auxiliaries->free.pop_back();
  }
  s.most_at_once = std::max(s.most_at_once, ++s.active);
  s.input_wait_ns += std::max<std::int64_t>(0, st.buffer->queued_ns - s.idle_since_ns);
  s.other_wait_ns +=
      std::max<std::int64_t>(0, st.begin_ns - std::max(s.idle_since_ns, st.buffer->queued_ns));
  return st;
}

void network_run::run_step(stage_state& s, worker& w, lock& held) {
  step const st = begin_step(s);
  bool const asynchronous = s.what->kind == stage_kind::asynchronous;
  s.beginning = asynchronous;
  if (asynchronous) ++asynchronous_;
  std::size_t& running = w.counts ? running_ : bound_running_;
  ++running;
  if (!is_known_to_be_short(s)) notify_workers();  // others may be ready, too
  bool const sampled =
      !asynchronous && what_.options.tune && (s.samples < 16 || st.ticket % 16 == 0);
  held.unlock();

  thread_usage const before = sampled ? usage_of_thread() : thread_usage{};
  std::exception_ptr error;
  result r{nullptr, verdict::drop, 0};
  if (asynchronous) {
    begin_asynchronous(s, st);
  } else {
    r = call(s, w, st, error);
  }
  thread_usage const after = sampled ? usage_of_thread() : thread_usage{};

  held.lock();
  --running;
  s.beginning = false;
  s.idle_since_ns = now_ns();
  if (asynchronous) return;
  if (error) stop_all_locked(std::move(error));
  s.busy_ns += s.idle_since_ns - st.begin_ns;
  note_trace({s.index, w.number, st.round, st.begin_ns, s.idle_since_ns});
  w.warm = r.what == verdict::convey ? r.buffer : nullptr;
  w.went_to = w.warm != nullptr ? s.outputs[r.output] : nullptr;
  if (sampled) sample(s, s.idle_since_ns - st.begin_ns, before, after);
  end_step(s, st.ticket, r);
}

/// Calls the stage's function; what it throws is put into `error`, and the buffer goes home.
result network_run::call(stage_state& s, worker& w, step const& st, std::exception_ptr& error) {
  result r{nullptr, verdict::drop, 0};
  if (s.source != nullptr) st.buffer->user.reset();
  try {
    pooled_buffer b(*st.buffer), auxiliary;
    if (st.auxiliary != nullptr) auxiliary = pooled_buffer(*st.auxiliary);
    if (s.what->choose) {
      r.what = verdict::convey;
      r.output = choose_output(s, b);
    } else {
      r.what = call_body(s, w, b, auxiliary);
    }
    r.buffer = b.release();  // none if the stage has kept it
  } catch (...) {
    error = wrap(s, std::current_exception());
  }
  drop_user_value(s, r);
  return r;
}

void network_run::drop_user_value(stage_state const& s, result const& r) noexcept {
  if (r.buffer == nullptr) return;
  if (r.what != verdict::convey || s.outputs[r.output] == nullptr) r.buffer->user.reset();
}

std::size_t network_run::choose_output(stage_state const& s, pooled_buffer const& b) {
  std::size_t const output = s.what->choose(b);
  if (output < s.outputs.size()) return output;
  throw std::invalid_argument(
      fmt::format("line {} chosen, there are {}", output, s.outputs.size()));
}

verdict network_run::call_body(stage_state& s, worker& w, pooled_buffer& b,
                               pooled_buffer& auxiliary) {
  stage_description const& d = *s.what;
  if (!d.make_body) return d.body ? d.body(b, auxiliary) : verdict::convey;
  step_body& own = w.bodies[&s];
  if (!own) own = d.make_body();
  return own(b, auxiliary);
}

void network_run::begin_asynchronous(stage_state& s, step const& st) {
  if (s.source != nullptr) st.buffer->user.reset();
  // If there is no memory for this, the network cannot even say so: as for a thread's stack.
  auto* const begun =
      new asynchronous_step{this, &s, pooled_buffer(*st.buffer), st.ticket, st.begin_ns};
  try {
    s.what->begin(begun->buffer, step_completion(*begun));
  } catch (...) {
    end_asynchronous(*begun, verdict::drop, std::current_exception());
  }
}

void network_run::end_asynchronous(asynchronous_step& ended, verdict v,
                                   std::exception_ptr error) noexcept {
  stage_state& s = *ended.stage;
  result const r{ended.buffer.release(), v, 0};
  drop_user_value(s, r);
  lock held(mutex_);
  std::int64_t const end = now_ns();
  s.busy_ns += end - ended.begin_ns;
  note_trace({s.index, lane_of(s, ended.ticket % s.replicas),
              r.buffer != nullptr ? r.buffer->round : 0, ended.begin_ns, end});
  std::uint64_t const ticket = ended.ticket;
  delete &ended;
  if (error) stop_all_locked(wrap(s, error));
  end_step(s, ticket, r);
  --asynchronous_;
  if (asynchronous_ == 0) check_for_deadlock();
  notify_workers();
  if (asynchronous_ == 0 && (everything_ended() || stopping_)) changed_.notify_all();
}

void network_run::end_step(stage_state& s, std::uint64_t ticket, result r) {
  --s.active;
  ++s.steps;
  if (s.what->release == order::kept && s.replicas > 1) {
    s.early.emplace(ticket, r);
    for (auto first = s.early.begin(); first != s.early.end() && first->first == s.next_release;
         first = s.early.erase(first), ++s.next_release)
      deliver(s, first->second);
  } else {
    deliver(s, r);
  }
  end_if_done(s);
}

void network_run::deliver(stage_state& s, result const& r) {
  if (r.buffer == nullptr) {  // it is kept, or has gone home
    if (r.what == verdict::end) end_reading(s);
    return;
  }
  if (s.ending && s.source != nullptr && r.what == verdict::convey && s.ended_by_last)
    return send_home(*r.buffer);
  bool const last = r.buffer->last;
  switch (r.what) {
    case verdict::convey:
      s.bytes += r.buffer->used_bytes;
      send(s, *r.buffer, r.output);
      break;
    case verdict::drop:
      send_home(*r.buffer);
      break;
    case verdict::end:
      send_home(*r.buffer);
      end_reading(s);
      break;
  }
  if (last && s.source != nullptr && r.what == verdict::convey) {
    s.ended_by_last = true;
    end_reading(s);
  }
}

void network_run::send(stage_state& s, thumbnail& t, std::size_t output) {
  edge* const e = s.outputs[output];
  if (e == nullptr) {
    ++finished_buffers_;
    finished_bytes_ += t.used_bytes;
    return send_home(t);
  }
  if (e->refused || stopping_) return send_home(t);
  t.queued_ns = now_ns();
  e->waiting.push_back(&t);
  notify(*e->reader);
}

void network_run::send_home(thumbnail& t) noexcept {
  auto& p = static_cast<pool_state&>(*t.home);
  t.used_bytes = 0;
  t.last = false;
  t.queued_ns = now_ns();
  p.free.push_back(&t);
  for (stage_state* r : p.readers) notify(*r);
}

/// Nothing that still comes to `s` is wanted: what leads only there need not work, either.
void network_run::end_reading(stage_state& s) {
  if (s.ending) return;
  s.ending = true;
  for (edge* e : s.inputs) {
    e->refused = true;
    for (; !e->waiting.empty(); e->waiting.pop_front()) send_home(*e->waiting.front());
    stage_state& writer = *e->writer;
    bool const useless = std::all_of(writer.outputs.begin(), writer.outputs.end(),
                                     [](edge const* o) { return o != nullptr && o->refused; });
    if (writer.is_node()) {  // it may wait for room there, or for anything
      notify(writer);
    } else if (useless) {
      end_reading(writer);
      end_if_done(writer);
    }
  }
}

void network_run::end_if_done(stage_state& s) {
  if (s.ended || s.is_node() || s.active > 0 || !s.early.empty()) return;
  if (!s.ending && !input_ended(s)) return;
  end_stage(s);
}

void network_run::end_stage(stage_state& s) {
  s.ended = true;
  --open_stages_;
  for (std::size_t o = 0; o < s.outputs.size(); ++o) close_output(s, o);
  if (everything_ended()) {
    changed_.notify_all();
    for (worker& w : workers_) w.wake.notify_all();
  }
}

void network_run::close_output(stage_state& s, std::size_t output) {
  edge* const e = s.outputs[output];
  if (e == nullptr || e->closed) return;
  e->closed = true;
  notify(*e->reader);
  end_if_done(*e->reader);
}

}  // namespace outsize::pipeline::detail
