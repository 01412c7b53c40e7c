// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A network of stages between which buffers travel: the one mechanism of overlap.
//
//   pool ──▶ stage ──▶ stage ──┐
//    ▲                         ├──▶ node ──▶ stage ──▶ (home)
//   pool ──▶ stage ────────────┘      ▲
//                                    pool
//
// A line starts at a pool, which numbers its empty buffers by rounds, and passes through stages
// (stage.hpp). After the last stage, buffers go home to be sent out again. A node is a function
// with ports, called once: it accepts from its inputs, takes from its pools and conveys to its
// outputs as it likes. A stage runs as soon as it has a buffer, a thread and room.
//
// Nothing runs before run() or start(), which check the network first. Results never depend on the
// number of threads or buffers, unless a stage asks for order::free, or a node takes whatever is
// there (ports::try_take()).
//
// Invariant: every buffer is in its pool, between two stages, or held by one of them. A network
// belongs to one thread; the functions of its stages run on any. In a process that comes from a
// fork, the copy of a running network has no threads: ports and finish() throw io_error
// (EOWNERDEAD). Layer: pipeline. Source: Cormen, Davidson: FG, 2004; intersecting pipelines:
// Cormen, Natarajan, Davidson, 2007.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/pipeline/network_report.hpp>
#include <outsize/pipeline/pooled_buffer.hpp>
#include <outsize/pipeline/stage.hpp>

namespace outsize::pipeline {

/// Thrown by ports when the network has failed or was cancelled. Let it pass: the network keeps the
/// reason.
class poisoned : public cancelled {
 public:
  poisoned() : cancelled("a stage of the work") {}
};

/// A stage failed. Names network and stage; the stage's own exception is nested in it. A
/// stage_error of a network inside the stage passes unchanged.
class stage_error : public std::runtime_error, public std::nested_exception {
 public:
  /// @pre the stage's exception is being handled.
  stage_error(std::string network, std::string stage, std::string const& reason);

  std::string const& network_name() const noexcept { return network_; }
  std::string const& stage_name() const noexcept { return stage_; }

 private:
  std::string network_;
  std::string stage_;
};

/// All stages wait for each other; the message says for each stage why it waits.
class deadlock_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct network_options {
  std::string name = "network";  ///< For messages, reports and pictures.
  /// Stages and nodes that run at once. External nodes, and stages that wait (stage::waits(), or as
  /// `tune` found), do not count. 0: the number of processors that the process may use. One is
  /// enough for any network.
  std::size_t threads = automatic;
  /// Gives a thread of its own to a stage that is seen to wait most of its time, and more buffers
  /// to an automatic pool that others are seen to wait for. The report says so.
  bool tune = true;
  bool trace = false;  ///< Records each step for network_report::chrome_trace().
  /// false: throws the exception of a stage as it is, without the names of network and stage; for
  /// networks inside a function whose callers know nothing of its stages.
  bool errors_name_stages = true;
  /// Called about five times a second while the network runs, and at the end, from a thread of its
  /// own. An exception that it throws stops the network.
  std::function<void(network_progress const&)> progress = {};
};

struct pool_options {
  std::string name = "buffers";
  /// Rounded up to whole pages. 0: no memory, only the round, the index and a user value.
  std::size_t buffer_bytes = 1 << 20;
  std::size_t count = automatic;      ///< automatic: enough for its stages, more when tuned.
  std::uint64_t rounds = UINT64_MAX;  ///< Buffers that its lines get in all; nodes may take more.
};

/// For network_options::progress: shows bytes and rate on one line of standard error while the
/// network runs. With `total_bytes`, the bytes that are to go all the way, also shows the time that
/// remains.
std::function<void(network_progress const&)> progress_on_terminal(std::string name,
                                                                  std::uint64_t total_bytes = 0);

class network;

namespace detail {
struct network_description;
struct stage_description;
}  // namespace detail

/// Identifies a pool of a network.
struct pool_id {
  std::size_t index;
};

/// Identifies a stage or node of a network.
struct stage_id {
  std::size_t index;
};

/// The open end of a chain of stages.
class line {
 public:
  /// Appends a stage and returns the new end.
  friend line operator|(line from, stage s);
  /// Hands the line to a function that appends stages and returns the new end: a pipeline in a
  /// pipeline (FG's macros).
  template <typename Macro>
    requires std::is_invocable_r_v<line, Macro, line>
  friend line operator|(line from, Macro&& macro) {
    return std::forward<Macro>(macro)(from);
  }

  /// Returns the last stage of the chain. @pre the chain has a stage.
  stage_id last_stage() const noexcept;

 private:
  friend class network;
  enum class origin : std::uint8_t { pool, output };
  line(network& n, origin o, std::size_t index, std::size_t port)
      : network_(&n), origin_(o), index_(index), port_(port) {}

  network* network_;
  origin origin_;
  std::size_t index_;  // of the pool or stage
  std::size_t port_;
};

/// A node's view of the network. accept(), take(), convey() and wait() wait. All but close() throw
/// `poisoned` once the network has failed or was cancelled.
class ports {
 public:
  ports(detail::network_run& run, std::size_t stage) noexcept : run_(&run), stage_(stage) {}

  std::size_t input_count() const noexcept;
  std::size_t output_count() const noexcept;
  /// Returns the next buffer of an input; nothing when the input has ended.
  std::optional<pooled_buffer> accept(std::size_t input = 0);
  /// As accept(), but returns nothing if no buffer is there now.
  std::optional<pooled_buffer> try_accept(std::size_t input = 0);
  /// Returns whether an input has ended and all of its buffers were accepted.
  bool ended(std::size_t input = 0) const;
  /// Returns an empty buffer of one of the node's pools.
  pooled_buffer take(std::size_t pool = 0);
  /// As take(), but returns nothing if no buffer is there now.
  std::optional<pooled_buffer> try_take(std::size_t pool = 0);
  /// As take(), but returns nothing if all stages would wait for each other for ever, were it not
  /// for this node: it can help by keeping elsewhere what the buffer is for. If several nodes can,
  /// one of them is asked.
  std::optional<pooled_buffer> take_unless_stalled(std::size_t pool = 0);
  /// Sends a buffer to an output. Returns whether the output wants more.
  bool convey(pooled_buffer b, std::size_t output = 0);
  /// Returns whether convey() to this output would not wait now. Only the node itself can change
  /// that from true to false.
  bool has_room(std::size_t output = 0) const;
  /// Returns whether an output wants more: after convey() has returned false it does not.
  bool wanted(std::size_t output = 0) const;
  /// Waits until a buffer has come to an input or a pool, an output has room or wants no more, or
  /// an input has ended. Returns at once if anything of this has happened since the last call that
  /// waited, so the node looks at all of its ports between two calls.
  void wait();
  /// Counts items that the node has gone through, and their bytes, for progress and reports: where
  /// no buffer carries them.
  void note(std::uint64_t items, std::uint64_t bytes);
  /// Ends an output. All outputs end when the node returns; an external node ends with its last
  /// output.
  void close(std::size_t output = 0);
  /// Throws if the calls above would: for work that is long between two of them.
  void check() const;
  /// Returns `f()`, and lets another node or stage run meanwhile: for a function that waits for
  /// something outside of the network. The network does not take the wait for a deadlock.
  template <typename F>
  decltype(auto) outside(F&& f) {
    absence const here(*this);
    return std::forward<F>(f)();
  }

 private:
  class absence {
   public:
    explicit absence(ports& p) : ports_(p) { ports_.leave(); }
    absence(absence const&) = delete;
    absence& operator=(absence const&) = delete;
    ~absence() { ports_.come_back(); }

   private:
    ports& ports_;
  };
  void leave();
  void come_back() noexcept;

  detail::network_run* run_;
  std::size_t stage_;
};

struct node_options {
  std::vector<line> inputs = {};
  std::vector<pool_id> pools = {};
  std::size_t outputs = 1;
};

/// A node, and the lines that start at its outputs.
struct node_lines {
  stage_id id;
  std::vector<line> outputs;

  line const& operator[](std::size_t output) const { return outputs[output]; }
};

class network {
 public:
  /// Runs take their buffers from `memory`, which must outlive the network.
  explicit network(memory_budget& memory, network_options options = {});
  network(network const&) = delete;
  network& operator=(network const&) = delete;
  /// Cancels and joins a run that has not ended; its error is lost then.
  ~network();

  pool_id pool(pool_options options);
  /// Starts a line at a pool.
  line from(pool_id p);
  line buffers(pool_options options) { return from(pool(std::move(options))); }

  /// Adds a stage with ports, which runs once on a thread of its own. An output that is not
  /// continued is an error; see recycle(). @throws std::invalid_argument if an input starts at a
  /// pool.
  node_lines node(std::string name, node_options options, std::function<void(ports&)> body);
  /// Adds a node for a thread of the caller's, between start() and finish(). finish() ends it if
  /// its owner has not. @throws as node().
  node_lines external(std::string name, node_options options);
  /// Returns the ports of an external node. @pre the network runs.
  ports ports_of(stage_id external_node);

  /// Divides a line: each buffer goes to the line whose index, below `count`, `choose` returns.
  std::vector<line> fork(line from, std::size_t count,
                         std::function<std::size_t(pooled_buffer const&)> choose);
  /// Joins lines. order::kept takes one buffer from each line in turn (as a fork by turns dealt
  /// them); order::free takes whichever is there.
  line join(std::vector<line> lines, order o = order::kept);
  /// Leads the end of `from` into a node or stage as a further input: for cycles.
  void feed_back(line from, stage_id to);
  /// Sends buffers at this end home: the explicit end of a node's or fork's output.
  void recycle(line from);

  /// Runs these stages on one thread; each runs up to `repeat` times before another has its turn
  /// (FG's multistage threads and multistage repeat).
  void same_thread(std::vector<stage_id> stages, std::size_t repeat = 1);
  /// Shows the stages that `build` appends as one cluster in pictures.
  line group(std::string name, line from, std::function<line(line)> const& build);

  /// Runs to the end on this thread and others.
  /// @throws std::invalid_argument if a port is not connected, no pool leads to a stage or a number
  /// is not valid, naming them; budget_error if the buffers do not fit in the memory; both before
  /// anything runs. std::system_error if an indispensable thread cannot be started: of a node, a
  /// group, a stage that waits, asynchronous stages or `progress`, or the only shared one.
  /// stage_error (but see network_options::errors_name_stages), deadlock_error, cancelled, or the
  /// exception of `progress`: all stages have ended then, and all buffers are home.
  void run(std::stop_token stop = {});
  /// Do the same as run() in two steps, for networks with external nodes.
  void start(std::stop_token stop = {});
  void finish();
  /// Throws the error of the running network if it has failed; for owners of external nodes.
  void rethrow_error();

  /// Returns the number of stages and nodes that may run at once.
  std::size_t threads() const;

  /// Returns pools, stages and connections as text; after a run, with the measurements of each.
  std::string explain() const { return report().explain(); }
  /// Returns the network, and its measurements if it ran.
  network_report report() const;

 private:
  friend line operator|(line from, stage s);
  line append(line const& from, stage s);
  std::size_t add(detail::stage_description d);
  std::size_t add_node(detail::stage_description d, node_options const& options);
  node_lines lines_of(std::size_t node_index);
  void connect(line const& from, std::size_t stage_index);
  void begin(std::stop_token stop, bool caller_helps);

  outsize::detail::process_ptr<detail::network_description> description_;
  std::string cluster_;  // of the stages appended now
  outsize::detail::process_ptr<detail::network_run> run_;
  std::optional<network_report> last_;
};

}  // namespace outsize::pipeline
