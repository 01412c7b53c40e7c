// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One run of a network: who may do what next, decided in one place under one lock.
//
// Steps of stages are taken by workers: shared ones, which go on with the buffer they have in their
// cache or else take the stage farthest downstream (so that buffers leave), and bound ones, which
// belong to one stage or to a group. An asynchronous step, which is begun in no time, is begun by a
// worker for that purpose when all shared ones compute: no disk waits for a processor. Nodes have
// threads of their own but run only while fewer than `threads` shared workers and nodes do. What
// waits gives its place up, so one place is enough for any network; when all wait and nothing can
// wake them, that is a deadlock, and is seen at once.
//
// Invariant: mutex_ guards all state below; functions of stages are called without it. A handle may
// end in them, so thumbnails inside the run are plain pointers, wrapped only for those calls. What
// users have put into buffers ends without it, too.
// Layer: pipeline, internal.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <outsize/pipeline/network.hpp>

namespace outsize::pipeline::detail {

enum class stage_kind : std::uint8_t { step, asynchronous, barrier, node, external };

/// What network collects and a run is made from.
struct stage_description {
  std::string name;
  stage_kind kind = stage_kind::step;
  step_body body;
  std::function<step_body()> make_body;
  std::function<void(pooled_buffer&, step_completion)> begin;
  std::function<std::size_t(pooled_buffer const&)> choose;  // of a fork
  std::function<void(ports&)> node_body;
  std::function<void()> at_start, at_end;
  bool auxiliary = false;
  bool waits = false;
  order release = order::kept;
  order accept = order::free;      // of a join
  bool ends_must_lead_on = false;  // outputs that lead nowhere are mistakes
  std::size_t replicas = 1;
  std::size_t room = SIZE_MAX;
  std::size_t barrier_rounds = 1;
  std::size_t inputs = 0;
  std::size_t outputs = 1;
  std::vector<std::size_t> pools;  // of a node; the source of a line: pool_input
  std::optional<std::size_t> pool_input;
  std::optional<std::size_t> group;
  std::string cluster;
};

struct connection_description {
  std::size_t from;
  std::size_t from_port;
  std::size_t to;
  std::size_t to_port;
};

struct group_description {
  std::string name;
  std::size_t repeat;
  std::vector<std::size_t> stages;
};

struct network_description {
  network_options options;
  memory_budget* memory = nullptr;
  std::vector<pool_options> pools;
  std::vector<stage_description> stages;
  std::vector<connection_description> connections;
  std::vector<std::pair<std::size_t, std::size_t>> recycled;  // outputs that lead home
  std::vector<group_description> groups;

  /// @throws std::invalid_argument naming what is wrong.
  void check() const;
  /// How many buffers a pool begins with; an automatic one has one for each step that may hold one.
  std::size_t buffer_count(std::size_t pool) const;
  /// The pools whose buffers may come to a stage.
  std::vector<std::size_t> pools_before(std::size_t stage) const;
  std::size_t thread_count() const;
  network_report report() const;
};

struct stage_state;

/// What waits between two stages.
struct edge {
  std::deque<thumbnail*> waiting;
  std::size_t room = SIZE_MAX;
  bool closed = false;   // nothing more will come
  bool refused = false;  // nothing more is wanted
  stage_state* writer = nullptr;
  stage_state* reader = nullptr;
};

class pool_state final : public buffer_home {
 public:
  /// Takes the memory from the run's grants, by the name `asker`.
  pool_state(network_run& run, pool_options const& options, std::size_t count, std::string asker);

  void take_back(thumbnail& unused) noexcept override;
  /// Adds a buffer if the budget allows. Under the run's lock.
  bool grow() noexcept;

  network_run& run;
  pool_options options;
  std::size_t first_count;
  std::deque<thumbnail> all;
  std::vector<thumbnail*> free;  // the last that came home is in a cache, and goes first
  std::uint64_t sent = 0;
  std::vector<stage_state*> readers;

 private:
  void add(grant& memory, std::size_t count);

  // Each of all buffers that were added together: disks move long pages of memory twice as fast.
  std::vector<buffer> memory_;
};

struct result {
  thumbnail* buffer;
  verdict what;
  std::size_t output;
};

struct stage_state {
  stage_description const* what = nullptr;
  std::size_t index = 0;
  pool_state* source = nullptr;
  std::vector<edge*> inputs;
  std::vector<edge*> outputs;  // nullptr: home
  std::unique_ptr<pool_state> auxiliaries;
  std::vector<pool_state*> pools;
  std::size_t replicas = 1;
  bool bound = false;  // only its own worker runs it

  std::size_t active = 0;  // steps begun and not ended
  std::uint64_t next_ticket = 0;
  std::uint64_t next_release = 0;
  std::map<std::uint64_t, result> early;  // ended before those that came before them
  std::size_t next_input = 0;             // of a join in turns
  std::size_t quota = 0;                  // of a barrier: buffers that may pass now
  std::size_t group_runs = 0;
  bool ending = false;         // takes no more
  bool ended_by_last = false;  // by a buffer marked so, after which nothing may go on
  bool beginning = false;      // of an asynchronous one: its function is being called
  bool ended = false;

  // Of nodes and externals.
  std::condition_variable wake;
  bool woken = false;
  bool has_place = false;
  bool wants_place = false;
  bool can_help = false;  // waits, but goes on if all others wait, too
  bool must_help = false;
  std::string waiting_for;

  // Measurements.
  std::size_t most_at_once = 0;
  std::uint64_t steps = 0;
  std::uint64_t bytes = 0;
  std::uint64_t items = 0;  // that a node has noted
  std::int64_t busy_ns = 0;
  std::int64_t input_wait_ns = 0;
  std::int64_t other_wait_ns = 0;
  std::int64_t idle_since_ns = 0;
  std::int64_t sampled_wall_ns = 0;
  std::int64_t sampled_cpu_ns = 0;
  std::size_t samples = 0;
  std::size_t samples_that_slept = 0;
  std::string note;

  /// Whether it has ports, and a thread to wait in them.
  bool is_node() const noexcept {
    return what->kind == stage_kind::node || what->kind == stage_kind::external;
  }
};

/// What a thread has computed, and how often it went to sleep of itself.
struct thread_usage {
  std::int64_t cpu_ns = 0;
  std::int64_t sleeps = 0;
};

/// A step that was begun and is ended by somebody else.
struct asynchronous_step {
  network_run* run;
  stage_state* stage;
  pooled_buffer buffer;
  std::uint64_t ticket;
  std::int64_t begin_ns;
};

class network_run {
 public:
  network_run(network_description const& what, std::stop_token stop);
  network_run(network_run const&) = delete;
  network_run& operator=(network_run const&) = delete;
  ~network_run();

  /// `caller_helps`: the thread that will call finish() is one of the workers.
  /// @throws std::system_error if a thread cannot be started that it cannot do without.
  void start(bool caller_helps);
  /// Helps until the end, joins, and throws the error if there is one.
  void finish();
  void rethrow_error();
  network_report report() const;
  /// The process that started it; in others its threads are missing.
  outsize::detail::process_mark const& process() const noexcept { return process_; }

  // For ports.
  std::optional<pooled_buffer> accept(std::size_t stage, std::size_t input);
  std::optional<pooled_buffer> try_accept(std::size_t stage, std::size_t input);
  bool ended(std::size_t stage, std::size_t input) const;
  bool has_room(std::size_t stage, std::size_t output) const;
  bool wanted(std::size_t stage, std::size_t output) const;
  void wait(std::size_t stage);
  void note(std::size_t stage, std::uint64_t items, std::uint64_t bytes);
  pooled_buffer take(std::size_t stage, std::size_t pool);
  std::optional<pooled_buffer> try_take(std::size_t stage, std::size_t pool);
  std::optional<pooled_buffer> take_unless_stalled(std::size_t stage, std::size_t pool);
  bool convey(std::size_t stage, pooled_buffer b, std::size_t output);
  void close(std::size_t stage, std::size_t output);
  void check() const;
  void leave(std::size_t stage);
  void come_back(std::size_t stage) noexcept;
  void check_process() const { process_.check(what_.options.name.c_str()); }
  stage_description const& description_of(std::size_t stage) const { return *stages_[stage]->what; }

  void end_asynchronous(asynchronous_step& ended, verdict v, std::exception_ptr error) noexcept;

 private:
  friend class pool_state;
  using lock = std::unique_lock<std::mutex>;

  struct worker {
    std::vector<stage_state*> own;  // none: shared
    bool counts = true;             // takes one of the places
    std::size_t repeat = SIZE_MAX;  // of a group
    std::size_t turn = 0;           // index in own
    std::size_t runs = 0;           // of the stage whose turn it is
    std::size_t number = 0;         // for traces
    bool idle = false;
    edge* went_to = nullptr;    // where its last step sent a buffer
    thumbnail* warm = nullptr;  // that buffer
    std::condition_variable wake;
    std::map<stage_state*, step_body> bodies;  // made on its thread
  };

  /// A buffer that was taken for one call of a stage.
  struct step {
    thumbnail* buffer = nullptr;
    thumbnail* auxiliary = nullptr;
    std::uint64_t ticket = 0;
    std::uint64_t round = 0;
    std::int64_t begin_ns = 0;
  };

  // Building.
  void build_stages();
  void connect_edges();

  // What may run.
  edge* chosen_input(stage_state const& s) const;
  bool has_input(stage_state const& s) const;
  bool input_ended(stage_state const& s) const;
  bool has_room(stage_state const& s) const;
  bool ready(stage_state const& s) const;
  stage_state* pick(worker& w);
  stage_state* stage_of_warm_buffer(worker const& w) const;
  stage_state* pick_own(worker& w);
  thumbnail* take_input(stage_state& s);
  pooled_buffer accept_first(stage_state& s, edge& e);

  // Steps.
  step begin_step(stage_state& s);
  void run_step(stage_state& s, worker& w, lock& held);
  result call(stage_state& s, worker& w, step const& st, std::exception_ptr& error);
  static std::size_t choose_output(stage_state const& s, pooled_buffer const& b);
  static verdict call_body(stage_state& s, worker& w, pooled_buffer& b, pooled_buffer& auxiliary);
  void begin_asynchronous(stage_state& s, step const& st);
  void end_step(stage_state& s, std::uint64_t ticket, result r);
  void deliver(stage_state& s, result const& r);
  void send(stage_state& s, thumbnail& t, std::size_t output);
  /// The user's value stays until no lock is held: drop_user_value() is for before that, where it
  /// is known that the buffer will go home; else whoever takes it next drops it.
  void send_home(thumbnail& t) noexcept;
  pooled_buffer take_free(pool_state& p, lock& held);
  static void drop_user_value(stage_state const& s, result const& r) noexcept;
  void end_reading(stage_state& s);
  void end_if_done(stage_state& s);
  void end_stage(stage_state& s);
  void close_output(stage_state& s, std::size_t output);

  // Threads.
  void work(worker& w);
  void run_node(stage_state& s);
  worker& spawn_worker(std::vector<stage_state*> own, bool counts, std::size_t repeat);
  void bind_worker(std::vector<stage_state*> own, bool counts, std::size_t repeat);
  void spawn_shared_workers(bool caller_helps);
  void notify(stage_state& s) noexcept;
  void notify_workers() noexcept;
  void wait_in_port(stage_state& s, std::string what, lock& held);
  void take_place(stage_state& s, lock& held);
  void give_place_up(stage_state& s);
  void join() noexcept;

  // The end.
  bool everything_ended() const noexcept { return open_stages_ == 0; }
  bool anything_moves() const;
  void end_external(stage_state& s);
  void check_for_deadlock() noexcept;
  bool ask_for_help() noexcept;
  std::string states() const;
  std::exception_ptr wrap(stage_state const& s, std::exception_ptr const& error) const;
  void call_outside(stage_state const& s, std::function<void()> const& call);
  void stop_all(std::exception_ptr error) noexcept;
  void stop_all_locked(std::exception_ptr error) noexcept;

  // Measurements.
  void sample(stage_state& s, std::int64_t wall_ns, thread_usage before, thread_usage after);
  bool grow_a_pool();
  void note_trace(trace_event const& e);
  /// A node or external was at work since its last wait.
  void note_work(stage_state& s, std::int64_t end_ns);
  /// Where a trace shows what no worker does: the k-th step in flight of a stage, a node.
  static std::size_t lane_of(stage_state const& s, std::size_t k) noexcept {
    return first_lane * (s.index + 1) + k;
  }
  void report_progress(std::stop_token const& stop);
  std::int64_t now_ns() const;

  outsize::detail::process_mark process_;
  network_description const& what_;
  std::stop_token stop_;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t seconds_end_ns_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for shared workers and finish()
  std::deque<grant> memory_;         // before the pools: payloads may have been swapped among them
  std::deque<std::unique_ptr<pool_state>> pools_;
  std::vector<std::unique_ptr<stage_state>> stages_;
  std::list<edge> edges_;
  std::list<worker> workers_;
  worker* caller_ = nullptr;
  worker* starter_ = nullptr;  // of asynchronous steps
  std::deque<std::thread> threads_;
  std::deque<stage_state*> place_queue_;
  std::size_t places_ = 1;
  std::size_t running_ = 0;            // of the places
  std::size_t bound_running_ = 0;      // steps on threads that count for nothing
  std::size_t asynchronous_ = 0;       // steps under way elsewhere
  std::size_t externals_outside_ = 0;  // not waiting in a port, or not known to; and absent nodes
  std::size_t externals_inside_ = 0;
  std::size_t open_stages_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
  std::uint64_t finished_buffers_ = 0;
  std::uint64_t finished_bytes_ = 0;
  std::vector<trace_event> trace_;
  std::uint64_t trace_dropped_ = 0;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  std::jthread progress_thread_;
};

}  // namespace outsize::pipeline::detail
