// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/stream/detail/graph_state.hpp>

namespace outsize::stream {
namespace detail {

void fragment::join(fragment other) {
  if (graph_ != nullptr && other.graph_ != nullptr && graph_ != other.graph_)
    throw plan_error("flows of different graphs cannot be joined");
  if (graph_ == nullptr) graph_ = other.graph_;
  std::move(other.segments_.begin(), other.segments_.end(), std::back_inserter(segments_));
}

void add_to_graph(fragment some) {
  graph_state* const g = some.graph();
  g->add(std::move(some));
}

void use_port(boundary_base& b) {
  if (std::exchange(b.is_used, true))
    throw plan_error(fmt::format("'{}' ({}:{}) is used twice: fork it", b.name(),
                                 b.place().file_name(), b.place().line()));
}

}  // namespace detail

flow_error::flow_error(std::string const& graph, std::size_t phase, std::size_t phases,
                       std::string const& segment, std::string const& reason)
    : stage_error(fmt::format("{}, phase {} of {}", graph, phase, phases), segment, reason),
      phase_(phase) {}

std::optional<double> graph_progress::remaining_seconds() const noexcept {
  if (finished) return 0;
  if (total_bytes == 0 || done_bytes == 0) return std::nullopt;
  return seconds * static_cast<double>(total_bytes - done_bytes) / static_cast<double>(done_bytes);
}

// ---- graph ----

graph::graph(storage& store, std::string name, graph_options options)
    : state_(std::make_unique<detail::graph_state>(store, std::move(name), std::move(options))) {}
graph::graph(std::string name, graph_options options)
    : graph(default_storage(), std::move(name), std::move(options)) {}
graph::graph(graph&&) noexcept = default;
graph& graph::operator=(graph&&) noexcept = default;
graph::~graph() = default;

void graph::keep(std::shared_ptr<detail::boundary_base> output) {
  state_->outputs.push_back(std::move(output));
}

void graph::add_fragment(detail::fragment all) { state_->add(std::move(all)); }

std::string graph::explain() const { return state_->explain(); }

graph_report const& graph::run(std::stop_token stop) {
  state_->run(std::move(stop));
  return state_->report;
}

graph_report const& graph::report() const noexcept { return state_->report; }

// ---- job ----

struct job::state {
  detail::graph_state& graph;
  std::stop_source stop = {};
  std::exception_ptr error = {};
  std::thread thread = {};
};

job graph::start() {
  if (std::exchange(state_->has_started, true))
    throw plan_error(fmt::format("{}: the graph has been started", state_->name));
  auto s = std::make_unique<job::state>(job::state{*state_});
  s->thread = std::thread([&j = *s] {
    try {
      j.graph.run(j.stop.get_token());
    } catch (...) {
      j.error = std::current_exception();
    }
  });
  return job(std::move(s));
}

job::job(std::unique_ptr<state> s) : state_(std::move(s)) {}
job::job(job&&) noexcept = default;
job& job::operator=(job&& other) noexcept {
  job before(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}
job::~job() {
  if (!state_ || !state_->thread.joinable()) return;
  cancel();
  state_->thread.join();
}

graph_progress job::progress() const { return state_->graph.progress(); }
void job::cancel() noexcept { state_->stop.request_stop(); }
graph_report const& job::wait() {
  if (state_->thread.joinable()) state_->thread.join();
  if (state_->error) std::rethrow_exception(state_->error);
  return state_->graph.report;
}

}  // namespace outsize::stream
