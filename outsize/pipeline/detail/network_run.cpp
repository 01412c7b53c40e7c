// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// How a run is built, started, brought to its end and measured.
#include <outsize/pipeline/detail/network_run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <outsize/base/executor.hpp>
#include <outsize/base/units.hpp>

namespace outsize::pipeline::detail {
namespace {

constexpr std::size_t most_trace_events = 1'000'000;

}  // namespace

// ---- pools ----

pool_state::pool_state(network_run& r, pool_options const& o, std::size_t count, std::string asker)
    : run(r), options(o), first_count(count) {
  options.buffer_bytes = round_up(o.buffer_bytes, page_bytes());
  grant& memory = run.memory_.emplace_back(
      run.what_.memory->take(options.buffer_bytes * count, std::move(asker)));
  add(memory, count);
}

void pool_state::add(grant& memory, std::size_t count) {
  std::span<std::byte> room;
  if (options.buffer_bytes * count != 0)
    room = memory_.emplace_back(memory.allocate(options.buffer_bytes * count)).bytes();
  for (std::size_t i = 0; i < count; ++i) {
    thumbnail& t = all.emplace_back();
    t.home = this;
    t.index = all.size() - 1;
    if (!room.empty()) t.memory = room.subspan(i * options.buffer_bytes, options.buffer_bytes);
    free.push_back(&t);
  }
}

void pool_state::take_back(thumbnail& unused) noexcept {
  if (!run.process().is_current()) return;
  unused.user.reset();
  std::lock_guard const held(run.mutex_);
  run.send_home(unused);
  run.notify_workers();
}

bool pool_state::grow() noexcept {
  std::size_t const grants = run.memory_.size(), buffers = memory_.size(), thumbnails = all.size();
  try {
    // It waits for nobody, nor makes others give back: whoever runs here has the mutex of the run.
    auto more = run.what_.memory->try_take(options.buffer_bytes, options.name);
    if (!more) return false;
    add(run.memory_.emplace_back(std::move(*more)), 1);
    return true;
  } catch (...) {  // no memory: it goes on with what it has
    while (all.size() > thumbnails) all.pop_back();
    while (memory_.size() > buffers) memory_.pop_back();
    while (run.memory_.size() > grants) run.memory_.pop_back();
    return false;
  }
}

// ---- building ----

network_run::network_run(network_description const& what, std::stop_token stop)
    : what_(what), stop_(std::move(stop)), begin_(std::chrono::steady_clock::now()) {
  places_ = what.thread_count();
  for (std::size_t p = 0; p < what.pools.size(); ++p)
    pools_.push_back(std::make_unique<pool_state>(
        *this, what.pools[p], what.buffer_count(p),
        fmt::format("{}: pool '{}'", what.options.name, what.pools[p].name)));
  build_stages();
  connect_edges();
  open_stages_ = stages_.size();
}

void network_run::build_stages() {
  for (std::size_t i = 0; i < what_.stages.size(); ++i) {
    stage_description const& d = what_.stages[i];
    auto s = std::make_unique<stage_state>();
    s->what = &d;
    s->index = i;
    s->replicas = d.replicas == automatic ? places_ : d.replicas;
    s->inputs.resize(d.inputs);
    s->outputs.resize(d.outputs);
    if (d.pool_input) {
      s->source = pools_[*d.pool_input].get();
      s->source->readers.push_back(s.get());
    }
    for (std::size_t p : d.pools) {
      s->pools.push_back(pools_[p].get());
      pools_[p]->readers.push_back(s.get());
    }
    stages_.push_back(std::move(s));
  }
}

void network_run::connect_edges() {
  for (connection_description const& c : what_.connections) {
    stage_state& from = *stages_[c.from];
    stage_state& to = *stages_[c.to];
    edge& e = edges_.emplace_back();
    e.room = from.what->room;
    e.writer = &from;
    e.reader = &to;
    from.outputs[c.from_port] = &e;
    to.inputs[c.to_port] = &e;
  }
  for (auto& s : stages_) {
    if (!s->what->auxiliary) continue;
    std::size_t bytes = 0;
    for (std::size_t p : what_.pools_before(s->index))
      bytes = std::max(bytes, what_.pools[p].buffer_bytes);
    pool_options const options{.name = s->what->name, .buffer_bytes = bytes, .count = s->replicas};
    s->auxiliaries = std::make_unique<pool_state>(
        *this, options, s->replicas,
        fmt::format("{}: auxiliary buffers of stage '{}'", what_.options.name, s->what->name));
    s->auxiliaries->readers.push_back(s.get());
  }
}

network_run::~network_run() {
  stop_all(std::make_exception_ptr(poisoned()));
  join();
}

void network_run::start(bool caller_helps) {
  for (auto& s : stages_) call_outside(*s, s->what->at_start);
  lock held(mutex_);
  for (group_description const& g : what_.groups) {
    std::vector<stage_state*> own;
    for (std::size_t i : g.stages) own.push_back(stages_[i].get());
    bind_worker(std::move(own), true, g.repeat);
  }
  std::vector<stage_state*> asynchronous;
  for (auto& s : stages_) {
    if (s->what->kind == stage_kind::asynchronous && !s->bound) asynchronous.push_back(s.get());
    if (s->what->kind == stage_kind::node) {
      s->wants_place = true;
      threads_.emplace_back([this, node = s.get()] { run_node(*node); });
    } else if (s->what->kind == stage_kind::external) {
      ++externals_outside_;
    } else if (s->what->waits && !s->bound) {
      for (std::size_t r = 0; r < s->replicas; ++r) bind_worker({s.get()}, false, SIZE_MAX);
    }
  }
  if (!asynchronous.empty()) starter_ = &spawn_worker(std::move(asynchronous), false, SIZE_MAX);
  spawn_shared_workers(caller_helps);
  for (auto& s : stages_) end_if_done(*s);  // no rounds at all
  caller_ = &workers_.emplace_back();       // finish() lends its thread
  held.unlock();
  if (what_.options.progress)
    progress_thread_ = std::jthread([this](std::stop_token const& stop) { report_progress(stop); });
  on_stop_.emplace(stop_,
                   [this] { stop_all(std::make_exception_ptr(cancelled(what_.options.name))); });
}

/// One is enough: where the system starts no more, the network goes on with those that there are.
void network_run::spawn_shared_workers(bool caller_helps) {
  for (std::size_t t = caller_helps ? 1 : 0; t < places_; ++t) {
    try {
      spawn_worker({}, true, SIZE_MAX);
    } catch (std::system_error const&) {
      if (t == 0) throw;
      return;
    }
  }
}

void network_run::finish() {
  check_process();
  {
    lock const held(mutex_);
    for (auto& s : stages_)
      if (s->what->kind == stage_kind::external && !s->ended) end_external(*s);
    notify_workers();
  }
  work(*caller_);
  join();
  rethrow_error();
  for (auto& s : stages_) call_outside(*s, s->what->at_end);
}

/// Calls what a stage wants to be called before or after the run. @throws what it throws, wrapped.
void network_run::call_outside(stage_state const& s, std::function<void()> const& call) {
  if (!call) return;
  try {
    call();
  } catch (...) {
    std::rethrow_exception(wrap(s, std::current_exception()));
  }
}

void network_run::join() noexcept {
  on_stop_.reset();
  {
    lock held(mutex_);
    executor::absence const waits;
    changed_.wait(held, [this] {
      return (everything_ended() || stopping_) && asynchronous_ == 0 && externals_inside_ == 0;
    });
    if (seconds_end_ns_ == 0) seconds_end_ns_ = now_ns();
  }
  for (std::size_t i = 0;; ++i) {  // more may be added until the last one has ended
    std::thread t;
    {
      lock const held(mutex_);
      if (i == threads_.size()) break;
      t = std::move(threads_[i]);
    }
    executor::absence const waits;
    if (t.joinable()) t.join();
  }
  if (progress_thread_.joinable()) {
    progress_thread_.request_stop();
    progress_thread_.join();
  }
  {
    lock const held(mutex_);
    for (edge& e : edges_)
      for (; !e.waiting.empty(); e.waiting.pop_front()) send_home(*e.waiting.front());
    for (auto& s : stages_) {
      for (auto const& [ticket, r] : s->early)
        if (r.buffer != nullptr) send_home(*r.buffer);
      s->early.clear();
    }
  }
  for (auto& p : pools_)  // while all pools are there: a value may hold a buffer of another
    for (thumbnail& t : p->all) t.user.reset();
}

void network_run::rethrow_error() {
  check_process();
  lock const held(mutex_);
  if (error_) std::rethrow_exception(error_);
}

// ---- the end ----

bool network_run::anything_moves() const {
  if (running_ + bound_running_ + asynchronous_ + externals_outside_ > 0) return true;
  for (auto const& s : stages_) {
    if (s->wants_place || (s->is_node() && s->woken && !s->waiting_for.empty())) return true;
    if (ready(*s)) return true;
  }
  return false;
}

/// Wakes a node that waits in take_unless_stalled(), if there is one.
bool network_run::ask_for_help() noexcept {
  for (auto const& s : stages_) {
    if (!s->can_help || s->waiting_for.empty()) continue;
    s->must_help = true;
    notify(*s);
    return true;
  }
  return false;
}

void network_run::check_for_deadlock() noexcept {
  if (stopping_ || everything_ended() || anything_moves() || grow_a_pool() || ask_for_help())
    return;
  try {
    throw deadlock_error(fmt::format("{}: deadlock: {}", what_.options.name, states()));
  } catch (...) {
    stop_all_locked(std::current_exception());
  }
}

std::string network_run::states() const {
  std::string text;
  for (auto const& s : stages_) {
    if (s->ended) continue;
    std::string why = s->waiting_for;
    if (why.empty() && s->active > 0) why = "the end of its step";
    if (why.empty() && !has_input(*s))
      why = s->source != nullptr ? fmt::format("a buffer of pool '{}'", s->source->options.name)
                                 : std::string("a buffer");
    if (why.empty() && !has_room(*s)) why = "room behind it";
    if (why.empty()) why = "an auxiliary buffer";
    text += fmt::format("{}'{}' waits for {}", text.empty() ? "" : "; ", s->what->name, why);
  }
  return text;
}

std::exception_ptr network_run::wrap(stage_state const& s, std::exception_ptr const& error) const {
  if (!what_.options.errors_name_stages) return error;
  try {
    std::rethrow_exception(error);
  } catch (stage_error const&) {  // of a network inside the stage: it says more
    return std::current_exception();
  } catch (std::exception const& e) {
    return std::make_exception_ptr(stage_error(what_.options.name, s.what->name, e.what()));
  } catch (...) {
    return std::make_exception_ptr(
        stage_error(what_.options.name, s.what->name, "unknown exception"));
  }
}

void network_run::stop_all(std::exception_ptr error) noexcept {
  lock const held(mutex_);
  if (!everything_ended()) stop_all_locked(std::move(error));
}

void network_run::stop_all_locked(std::exception_ptr error) noexcept {
  if (stopping_) return;
  stopping_ = true;
  error_ = std::move(error);
  changed_.notify_all();
  for (worker& w : workers_) w.wake.notify_all();
  for (auto& s : stages_) s->wake.notify_all();
}

// ---- measurements ----

void network_run::sample(stage_state& s, std::int64_t wall_ns, thread_usage before,
                         thread_usage after) {
  ++s.samples;
  // Without sleep, what it did not compute it was made to wait: the machine has other work, too.
  if (after.sleeps > before.sleeps) ++s.samples_that_slept;
  s.sampled_wall_ns += wall_ns;
  s.sampled_cpu_ns += after.cpu_ns - before.cpu_ns;
  constexpr std::size_t enough = 8;
  constexpr std::int64_t worth_a_thread_ns = 100'000;
  if (s.bound || s.what->group || s.samples < enough || stopping_ || s.ended) return;
  if (s.samples_that_slept * 2 < s.samples || s.sampled_cpu_ns * 2 > s.sampled_wall_ns ||
      s.sampled_wall_ns < worth_a_thread_ns * static_cast<std::int64_t>(s.samples))
    return;
  try {
    for (std::size_t r = 0; r < s.replicas; ++r) bind_worker({&s}, false, SIZE_MAX);
    s.note = fmt::format("got its own thread: {} % of its time was waiting",
                         100 - 100 * s.sampled_cpu_ns / s.sampled_wall_ns);
  } catch (...) {
    // No thread is to be had, or no memory: those that there are go on.
  }
}

bool network_run::grow_a_pool() {
  if (!what_.options.tune || stopping_) return false;
  for (auto& p : pools_) {
    bool const wanted = p->options.count == automatic && p->free.empty() &&
                        p->all.size() < 2 * p->first_count && p->sent < p->options.rounds &&
                        p->sent >= p->first_count;
    if (wanted && p->grow()) {
      for (stage_state* r : p->readers) notify(*r);
      return true;
    }
  }
  return false;
}

void network_run::note_work(stage_state& s, std::int64_t end_ns) {
  s.busy_ns += end_ns - s.idle_since_ns;
  note_trace({s.index, lane_of(s, 0), s.steps, s.idle_since_ns, end_ns});
}

void network_run::note_trace(trace_event const& e) {
  if (!what_.options.trace) return;
  if (trace_.size() < most_trace_events) {
    trace_.push_back(e);
  } else {
    ++trace_dropped_;
  }
}

std::int64_t network_run::now_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                              begin_)
      .count();
}

void network_run::report_progress(std::stop_token const& stop) {
  std::condition_variable_any tick;
  lock held(mutex_);
  for (bool last = false; !last;) {
    tick.wait_for(held, stop, std::chrono::milliseconds(200), [] { return false; });
    last = stop.stop_requested();
    network_progress const p{finished_buffers_, finished_bytes_,
                             static_cast<double>(now_ns()) * 1e-9, last};
    held.unlock();
    std::exception_ptr error;
    try {
      what_.options.progress(p);
    } catch (...) {
      error = std::current_exception();
    }
    held.lock();
    if (!error) continue;
    stop_all_locked(error);
    return;
  }
}

network_report network_run::report() const {
  check_process();
  network_report r = what_.report();
  std::lock_guard const held(mutex_);
  r.has_run = true;
  r.begin_ns = std::chrono::nanoseconds(begin_.time_since_epoch()).count();
  r.seconds = static_cast<double>(seconds_end_ns_) * 1e-9;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    r.pools[p].count = pools_[p]->all.size();
    r.pools[p].first_count = pools_[p]->first_count;
    r.pools[p].buffers_sent = pools_[p]->sent;
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stage_state const& s = *stages_[i];
    auto& to = r.stages[i];
    to.replicas = s.replicas;
    to.most_at_once = s.most_at_once;
    to.buffers = s.steps;
    to.bytes = s.bytes;
    to.items = s.items;
    to.busy_seconds = static_cast<double>(s.busy_ns) * 1e-9;
    to.input_wait_seconds = static_cast<double>(s.input_wait_ns) * 1e-9;
    to.other_wait_seconds = static_cast<double>(s.other_wait_ns) * 1e-9;
    if (s.bound && to.thread == "shared") to.thread = "own";
    to.note = s.note;
  }
  r.trace = trace_;
  r.trace_dropped = trace_dropped_;
  return r;
}

}  // namespace outsize::pipeline::detail
