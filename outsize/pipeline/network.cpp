// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/network.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/progress_line.hpp>
#include <outsize/pipeline/detail/network_run.hpp>

namespace outsize::pipeline {

stage_error::stage_error(std::string network, std::string stage, std::string const& reason)
    : std::runtime_error(fmt::format("{}: stage '{}': {}", network, stage, reason)),
      network_(std::move(network)),
      stage_(std::move(stage)) {}

// ---- stages of other kinds ----

stage asynchronous(std::string name, std::size_t depth,
                   std::function<void(pooled_buffer&, step_completion)> begin) {
  stage s(std::move(name));
  s.begin_ = std::move(begin);
  s.replicas_ = depth;
  return s;
}

stage barrier(std::size_t rounds) {
  stage s(fmt::format("barrier of {}", rounds));
  s.barrier_rounds_ = rounds;
  s.is_barrier_ = true;
  return s;
}

void step_completion::done(verdict v) const noexcept {
  step_->run->end_asynchronous(*step_, v, nullptr);
}

void step_completion::failed(std::exception_ptr error) const noexcept {
  step_->run->end_asynchronous(*step_, verdict::drop, std::move(error));
}

// ---- ports ----

std::size_t ports::input_count() const noexcept { return run_->description_of(stage_).inputs; }
std::size_t ports::output_count() const noexcept { return run_->description_of(stage_).outputs; }
std::optional<pooled_buffer> ports::accept(std::size_t input) {
  return run_->accept(stage_, input);
}
std::optional<pooled_buffer> ports::try_accept(std::size_t input) {
  return run_->try_accept(stage_, input);
}
bool ports::ended(std::size_t input) const { return run_->ended(stage_, input); }
bool ports::has_room(std::size_t output) const { return run_->has_room(stage_, output); }
bool ports::wanted(std::size_t output) const { return run_->wanted(stage_, output); }
void ports::wait() { run_->wait(stage_); }
void ports::note(std::uint64_t items, std::uint64_t bytes) { run_->note(stage_, items, bytes); }
pooled_buffer ports::take(std::size_t pool) { return run_->take(stage_, pool); }
std::optional<pooled_buffer> ports::take_unless_stalled(std::size_t pool) {
  return run_->take_unless_stalled(stage_, pool);
}
std::optional<pooled_buffer> ports::try_take(std::size_t pool) {
  return run_->try_take(stage_, pool);
}
bool ports::convey(pooled_buffer b, std::size_t output) {
  return run_->convey(stage_, std::move(b), output);
}
void ports::close(std::size_t output) { run_->close(stage_, output); }
void ports::check() const { run_->check(); }
void ports::leave() { run_->leave(stage_); }
void ports::come_back() noexcept { run_->come_back(stage_); }

std::function<void(network_progress const&)> progress_on_terminal(std::string name,
                                                                  std::uint64_t total_bytes) {
  return [name = std::move(name), total_bytes,
          line = std::make_shared<std::optional<progress_line>>()](network_progress const& now) {
    if (now.finished) return line->reset();
    if (!line->has_value()) line->emplace();
    (*line)->show(name, now.bytes, total_bytes);
  };
}

// ---- building ----

network::network(memory_budget& memory, network_options options)
    : description_(std::make_unique<detail::network_description>()) {
  description_->memory = &memory;
  description_->options = std::move(options);
}

network::~network() = default;

pool_id network::pool(pool_options options) {
  description_->pools.push_back(std::move(options));
  return {description_->pools.size() - 1};
}

line network::from(pool_id p) {
  OUTSIZE_ASSERT(p.index < description_->pools.size());
  return {*this, line::origin::pool, p.index, 0};
}

stage_id line::last_stage() const noexcept {
  OUTSIZE_ASSERT(origin_ == origin::output);
  return {index_};
}

line operator|(line from, stage s) { return from.network_->append(from, std::move(s)); }

line network::append(line const& from, stage s) {
  detail::stage_description d;
  d.kind = s.is_barrier_ ? detail::stage_kind::barrier
           : s.begin_    ? detail::stage_kind::asynchronous
                         : detail::stage_kind::step;
  d.name = std::move(s.name_);
  d.body = std::move(s.body_);
  d.make_body = std::move(s.make_body_);
  d.begin = std::move(s.begin_);
  d.at_start = std::move(s.at_start_);
  d.at_end = std::move(s.at_end_);
  d.auxiliary = s.auxiliary_;
  d.waits = s.waits_;
  d.release = s.order_;
  d.replicas = s.replicas_;
  d.room = s.room_;
  d.barrier_rounds = s.barrier_rounds_;
  std::size_t const index = add(std::move(d));
  connect(from, index);
  return {*this, line::origin::output, index, 0};
}

std::size_t network::add(detail::stage_description d) {
  d.cluster = cluster_;
  description_->stages.push_back(std::move(d));
  return description_->stages.size() - 1;
}

void network::connect(line const& from, std::size_t to) {
  OUTSIZE_ASSERT(from.network_ == this);
  auto& stage = description_->stages[to];
  if (from.origin_ == line::origin::pool) {
    stage.pool_input = from.index_;
    return;
  }
  description_->connections.push_back({from.index_, from.port_, to, stage.inputs++});
}

std::size_t network::add_node(detail::stage_description d, node_options const& options) {
  d.outputs = options.outputs;
  d.ends_must_lead_on = true;
  for (pool_id p : options.pools) d.pools.push_back(p.index);
  std::size_t const index = add(std::move(d));
  for (line const& l : options.inputs) {
    if (l.origin_ == line::origin::pool)
      throw std::invalid_argument(
          fmt::format("{}: node '{}': an input starts at a pool; name it among the node's pools",
                      description_->options.name, description_->stages[index].name));
    connect(l, index);
  }
  return index;
}

node_lines network::lines_of(std::size_t index) {
  node_lines lines{{index}, {}};
  for (std::size_t o = 0; o < description_->stages[index].outputs; ++o)
    lines.outputs.push_back({*this, line::origin::output, index, o});
  return lines;
}

node_lines network::node(std::string name, node_options options, std::function<void(ports&)> body) {
  detail::stage_description d;
  d.name = std::move(name);
  d.kind = detail::stage_kind::node;
  d.node_body = std::move(body);
  return lines_of(add_node(std::move(d), options));
}

node_lines network::external(std::string name, node_options options) {
  detail::stage_description d;
  d.name = std::move(name);
  d.kind = detail::stage_kind::external;
  return lines_of(add_node(std::move(d), options));
}

ports network::ports_of(stage_id external_node) {
  OUTSIZE_ASSERT(run_ != nullptr);
  OUTSIZE_ASSERT(description_->stages[external_node.index].kind == detail::stage_kind::external);
  return {*run_, external_node.index};
}

std::vector<line> network::fork(line from, std::size_t count,
                                std::function<std::size_t(pooled_buffer const&)> choose) {
  detail::stage_description d;
  d.name = fmt::format("fork of {}", count);
  d.choose = std::move(choose);
  d.outputs = count;
  d.ends_must_lead_on = true;
  std::size_t const index = add(std::move(d));
  connect(from, index);
  return lines_of(index).outputs;
}

line network::join(std::vector<line> lines, order o) {
  detail::stage_description d;
  d.name = fmt::format("join of {}", lines.size());
  d.accept = o;
  std::size_t const index = add(std::move(d));
  for (line const& l : lines) connect(l, index);
  return {*this, line::origin::output, index, 0};
}

void network::feed_back(line from, stage_id to) {
  OUTSIZE_ASSERT(to.index < description_->stages.size());
  connect(from, to.index);
}

void network::recycle(line from) {
  OUTSIZE_ASSERT(from.network_ == this && from.origin_ == line::origin::output);
  description_->recycled.emplace_back(from.index_, from.port_);
}

void network::same_thread(std::vector<stage_id> stages, std::size_t repeat) {
  detail::group_description g{"", repeat, {}};
  for (stage_id const id : stages) {
    OUTSIZE_ASSERT(id.index < description_->stages.size());
    auto& stage = description_->stages[id.index];
    stage.group = description_->groups.size();
    g.name += (g.name.empty() ? "" : " + ") + stage.name;
    g.stages.push_back(id.index);
  }
  description_->groups.push_back(std::move(g));
}

line network::group(std::string name, line from, std::function<line(line)> const& build) {
  std::string const outer = std::exchange(cluster_, std::move(name));
  line const end = build(from);
  cluster_ = outer;
  return end;
}

// ---- running ----

void network::begin(std::stop_token stop, bool caller_helps) {
  OUTSIZE_ASSERT(run_ == nullptr);
  description_->check();
  auto begun = std::make_unique<detail::network_run>(*description_, std::move(stop));
  begun->start(caller_helps);
  run_ = std::move(begun);
}

void network::run(std::stop_token stop) {
  begin(std::move(stop), true);
  finish();
}

void network::start(std::stop_token stop) { begin(std::move(stop), false); }

void network::finish() {
  OUTSIZE_ASSERT(run_ != nullptr);
  run_->check_process();
  auto const ended = std::move(run_);  // its buffers go back to the budget, whatever happened
  try {
    ended->finish();
  } catch (...) {
    last_ = ended->report();
    throw;
  }
  last_ = ended->report();
}

void network::rethrow_error() {
  if (run_ != nullptr) run_->rethrow_error();
}

std::size_t network::threads() const { return description_->thread_count(); }

network_report network::report() const {
  if (run_ != nullptr) return run_->report();
  return last_ ? *last_ : description_->report();
}

// ---- checking ----

namespace detail {
namespace {

/// Marks what can be reached from `start` along the connections.
std::vector<bool> reachable(network_description const& n, std::vector<std::size_t> open,
                            bool forward) {
  std::vector<bool> seen(n.stages.size(), false);
  while (!open.empty()) {
    std::size_t const s = open.back();
    open.pop_back();
    if (seen[s]) continue;
    seen[s] = true;
    for (connection_description const& c : n.connections)
      if ((forward ? c.from : c.to) == s) open.push_back(forward ? c.to : c.from);
  }
  return seen;
}

std::vector<std::size_t> readers_of(network_description const& n, std::size_t pool) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < n.stages.size(); ++i) {
    auto const& s = n.stages[i];
    if (s.pool_input == pool || std::count(s.pools.begin(), s.pools.end(), pool) > 0)
      found.push_back(i);
  }
  return found;
}

[[noreturn]] void refuse(network_description const& n, std::string const& why) {
  throw std::invalid_argument(fmt::format("{}: {}", n.options.name, why));
}

void check_outputs(network_description const& n) {
  std::vector<std::vector<int>> uses;
  for (auto const& s : n.stages) uses.emplace_back(s.outputs, 0);
  for (auto const& c : n.connections) ++uses[c.from][c.from_port];
  for (auto const& [stage, port] : n.recycled) ++uses[stage][port];
  for (std::size_t i = 0; i < n.stages.size(); ++i) {
    for (std::size_t o = 0; o < uses[i].size(); ++o) {
      if (uses[i][o] > 1)
        refuse(n, fmt::format("output {} of '{}' leads to two places", o, n.stages[i].name));
      if (uses[i][o] == 0 && n.stages[i].ends_must_lead_on)
        refuse(n, fmt::format("output {} of '{}' is not connected", o, n.stages[i].name));
    }
  }
}

void check_sources(network_description const& n) {
  std::vector<std::size_t> all_readers;
  for (std::size_t p = 0; p < n.pools.size(); ++p) {
    auto const readers = readers_of(n, p);
    if (readers.empty()) refuse(n, fmt::format("pool '{}' feeds no stage", n.pools[p].name));
    all_readers.insert(all_readers.end(), readers.begin(), readers.end());
  }
  auto const fed = reachable(n, all_readers, true);
  for (std::size_t i = 0; i < n.stages.size(); ++i) {
    auto const& s = n.stages[i];
    if (s.pool_input && s.inputs > 0)
      refuse(n, fmt::format("'{}' has both a pool and lines before it", s.name));
    if (!s.pool_input && s.inputs == 0 && s.kind != stage_kind::node &&
        s.kind != stage_kind::external)
      refuse(n, fmt::format("the input of '{}' is not connected", s.name));
    // A node without any connection needs no buffers.
    bool const is_alone = s.kind == stage_kind::node && s.inputs == 0 && s.outputs == 0;
    if (!fed[i] && !is_alone)
      refuse(n, fmt::format("no pool leads to '{}': it is in a cycle without buffers", s.name));
  }
}

void check_numbers(network_description const& n) {
  for (group_description const& g : n.groups)
    if (g.repeat == 0) refuse(n, fmt::format("'{}' share a thread but may run 0 times", g.name));
  for (std::size_t i = 0; i < n.stages.size(); ++i) {
    auto const& s = n.stages[i];
    if (s.room == 0) refuse(n, fmt::format("there is room for no buffer behind '{}'", s.name));
    if (s.kind == stage_kind::asynchronous && s.replicas == 0)
      refuse(n, fmt::format("'{}' may begin no step", s.name));
    if (s.kind != stage_kind::barrier) continue;
    if (s.barrier_rounds == 0) refuse(n, "a barrier of 0 buffers");
    for (std::size_t p : n.pools_before(i))
      if (n.pools[p].count != automatic && n.pools[p].count < s.barrier_rounds)
        refuse(n, fmt::format("'{}' waits for more than the {} buffers of pool '{}'", s.name,
                              n.pools[p].count, n.pools[p].name));
  }
}

char const* name_of(stage_kind k) {
  switch (k) {
    case stage_kind::step:
      return "stage";
    case stage_kind::asynchronous:
      return "asynchronous";
    case stage_kind::barrier:
      return "barrier";
    case stage_kind::node:
      return "node";
    case stage_kind::external:
      return "external";
  }
  return "";
}

}  // namespace

void network_description::check() const {
  if (stages.empty()) refuse(*this, "there is no stage");
  check_outputs(*this);
  check_sources(*this);
  check_numbers(*this);
}

std::size_t network_description::thread_count() const {
  return options.threads != automatic ? options.threads : available_threads();
}

std::vector<std::size_t> network_description::pools_before(std::size_t stage) const {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < pools.size(); ++p)
    if (reachable(*this, readers_of(*this, p), true)[stage]) found.push_back(p);
  return found;
}

std::size_t network_description::buffer_count(std::size_t pool) const {
  if (pools[pool].count != automatic) return pools[pool].count;
  auto const reached = reachable(*this, readers_of(*this, pool), true);
  std::size_t count = 1;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!reached[i]) continue;
    std::size_t const at_once =
        stages[i].replicas == automatic ? thread_count() : stages[i].replicas;
    count += std::max(at_once, stages[i].barrier_rounds);
  }
  return count;
}

network_report network_description::report() const {
  network_report r;
  r.name = options.name;
  r.threads = thread_count();
  if (memory != nullptr) r.memory = memory->report();
  for (std::size_t p = 0; p < pools.size(); ++p)
    r.pools.push_back({.name = pools[p].name,
                       .buffer_bytes = pools[p].buffer_bytes,
                       .count = buffer_count(p),
                       .first_count = buffer_count(p)});
  for (std::size_t i = 0; i < stages.size(); ++i) {
    auto const& s = stages[i];
    auto& to = r.stages.emplace_back();
    to.name = s.name;
    to.kind = name_of(s.kind);
    to.cluster = s.cluster;
    bool const own = s.waits || s.kind == stage_kind::node;
    to.thread = s.group                          ? groups[*s.group].name
                : s.kind == stage_kind::external ? "the caller's"
                : own                            ? "own"
                                                 : "shared";
    to.replicas = s.replicas == automatic ? r.threads : s.replicas;
    if (s.pool_input) r.connections.push_back({true, *s.pool_input, i});
    for (std::size_t p : s.pools) r.connections.push_back({true, p, i});
    std::vector<bool> leads_on(s.outputs, false);
    for (auto const& c : connections) {
      if (c.from != i) continue;
      leads_on[c.from_port] = true;
      r.connections.push_back({false, i, c.to});
    }
    for (bool on : leads_on)
      if (!on) r.connections.push_back({false, i, stages.size()});
  }
  return r;
}

}  // namespace detail
}  // namespace outsize::pipeline
