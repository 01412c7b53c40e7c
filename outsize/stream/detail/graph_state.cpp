// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/detail/graph_state.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <stop_token>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/load_sampler.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/detail/volumes.hpp>

namespace outsize::stream::detail {
namespace {

std::string place_of(boundary_base const& b) {
  return fmt::format("'{}' ({}:{})", b.name(), b.place().file_name(), b.place().line());
}

std::string label_of(segment_record const& s) {
  std::string text;
  auto const add = [&text](std::string const& part, char const* between) {
    text += (text.empty() ? "" : between) + part;
  };
  for (boundary_base const* b : s.what.reads) add(b->name(), ", ");
  for (std::string const& name : s.what.operators) add(name, " | ");
  if (s.writes.size() == 1) add(s.writes.front()->name(), " | ");
  return text;
}

std::uint64_t bytes_through(boundary_base const& b) {
  std::size_t const length = b.item_bytes() == 0 ? 32 : b.item_bytes();
  return b.count.bytes(length).value_or(length);
}

/// No two threads may use a container at once, or write a file.
void check_uses(std::vector<segment_record> const& segments) {
  std::map<void const*, std::size_t> readers;
  std::set<void const*> changed;
  std::set<std::string> files;
  auto const refuse_changed = [&changed](segment_record const& s, void const* c) {
    if (changed.contains(c))
      throw plan_error(fmt::format("'{}' reads a container that the graph writes to", s.label));
  };
  for (segment_record const& s : segments)
    for (void const* c : s.what.changed)
      if (!changed.insert(c).second)
        throw plan_error(
            fmt::format("'{}': another part of the graph writes to the same container", s.label));
  for (segment_record const& s : segments) {
    for (void const* r : s.what.ranges) refuse_changed(s, r);
    for (auto const& file : s.what.output_files)
      if (!file.path.empty() && file.path != "-" && !files.insert(file.path).second)
        throw plan_error(
            fmt::format("'{}': another part of the graph writes to the same file", s.label));
  }
  for (std::size_t i = 0; i < segments.size(); ++i)
    for (void const* c : segments[i].what.containers) {
      refuse_changed(segments[i], c);
      auto const [other, is_new] = readers.emplace(c, i);
      if (!is_new && other->second != i)
        throw plan_error(fmt::format("'{}' and '{}' read the same container: fork one flow from it",
                                     segments[other->second].label, segments[i].label));
    }
}

}  // namespace

void graph_state::add(fragment all) {
  if (all.graph() != nullptr && all.graph() != this)
    throw plan_error(fmt::format("{}: a flow of another graph cannot be added", name));
  if (has_run) throw plan_error(fmt::format("{}: the graph has run", name));
  for (auto& code : all.take()) {
    segment_record s{.code = std::move(code), .what = {}, .writes = {}, .label = {}};
    s.what = s.code->describe();
    s.writes = s.code->writes();
    for (boundary_base* b : s.what.reads) {
      b->reader = s.code.get();
      b->is_used = true;
      boundaries.push_back(b->shared_from_this());
    }
    segments.push_back(std::move(s));
  }
}

graph_plan graph_state::plan() {
  if (has_run) throw plan_error(fmt::format("{}: the graph has run", name));
  if (segments.empty()) throw plan_error(fmt::format("{}: the graph has no sink", name));
  for (auto const& out : outputs)
    if (!out->is_used) throw plan_error(fmt::format("{}: {} leads nowhere", name, place_of(*out)));
  graph_plan result;
  std::map<segment_base const*, std::size_t> index;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    segment_record& s = segments[i];
    index[s.code.get()] = i;
    s.writes = s.code->writes();
    s.label = label_of(s);
    for (boundary_base* b : s.writes) {
      b->writer = s.code.get();
      b->set_lanes(store.threads().threads());
    }
  }
  check_uses(segments);
  std::vector<graph_edge> edges;
  for (segment_record const& s : segments)
    for (boundary_base* b : s.writes) {
      if (b->reader == nullptr)
        throw plan_error(fmt::format("{}: {} leads nowhere", name, place_of(*b)));
      result.boundaries.push_back(b);
      edges.push_back(
          {index.at(s.code.get()), index.at(b->reader), b->is_cut(), 0, b->can_be_store()});
    }
  count_items();
  for (std::size_t e = 0; e < edges.size(); ++e)
    edges[e].bytes = bytes_through(*result.boundaries[e]);
  graph_parts const parts = divide_graph(segments.size(), edges);
  for (std::size_t e : parts.stores) result.boundaries[e]->become_store();
  result.components = parts.components;
  return result;
}

/// In the order in which segments were added, which is that of the items.
void graph_state::count_items() {
  for (segment_record const& s : segments)
    if (!s.has_run)
      for (boundary_base* b : s.writes) b->count = s.code->size();
  graph_volumes const volumes(*this);
  for (segment_record const& s : segments)
    for (boundary_base* b : s.writes) b->expected_bytes = volumes.through(*b);
}

std::vector<phase_plan> graph_state::phases_of_level(graph_plan const& all,
                                                     std::size_t level) const {
  std::vector<phase_plan> result;
  std::uint64_t knees = 0;
  std::uint64_t const total = store.memory().total_bytes();
  for (component const& c : all.components) {
    if (c.level != level) continue;
    std::uint64_t knee = 0;
    for (named_claim const& n : claims_of_phase(*this, {c.segments})) knee += n.claim.knee;
    if (result.empty() || (knee > 0 && knees > 0 && knees + knee > total - total / 16)) {
      result.emplace_back();
      knees = 0;
    }
    knees += knee;
    auto& to = result.back().segments;
    to.insert(to.end(), c.segments.begin(), c.segments.end());
  }
  return result;
}

void graph_state::run(std::stop_token stop) {
  graph_plan const all = plan();
  block::load_sampler sampler(store, report.load);
  std::size_t const levels = all.components.back().level + 1;
  std::vector<std::size_t> foreseen;  // phases of each level
  for (std::size_t level = 0; level < levels; ++level) {
    foreseen.push_back(phases_of_level(all, level).size());
    phases += foreseen.back();
  }
  has_run = true;
  report.name = name;
  report.threads = store.threads().threads();
  begin_ns = std::chrono::steady_clock::now().time_since_epoch().count();
  struct ending {
    graph_state& g;
    graph_plan const& plan;
    block::load_sampler& sampler;
    ~ending() {
      for (boundary_base* b : plan.boundaries) b->end_reading();
      g.segments.clear();
      g.report.moved_bytes = g.moved_bytes;
      auto const moved = sampler.finish();
      g.report.disk_bytes = moved.disk_bytes;
      g.report.file_bytes = moved.file_bytes;
      g.total_bytes = g.moved_bytes.load();
      g.report.seconds = g.progress().seconds;
      g.finished = true;
    }
  } const at_end{*this, all, sampler};
  for (std::size_t level = 0; level < levels; ++level) {
    count_items();
    auto const now = phases_of_level(all, level);
    phases += now.size() - foreseen[level];
    for (phase_plan const& p : now) {
      ++phase;
      graph_volumes const volumes(*this);
      if (auto const left = volumes.bytes_to_come())
        total_bytes = moved_bytes + *left;
      else
        total_bytes = 0;
      report.predicted_disk_bytes += volumes.disk_bytes(p);
      report.predicted_file_bytes += volumes.file_bytes(p);
      run_phase(*this, p, stop);
      for (std::size_t i : p.segments) segments[i].has_run = true;
    }
  }
}

graph_progress graph_state::progress() const {
  graph_progress p;
  p.phase = phase;
  p.phases = phases;
  p.done_bytes = moved_bytes;
  if (total_bytes != 0) p.total_bytes = std::max(total_bytes.load(), p.done_bytes);
  p.finished = finished;
  if (begin_ns != 0) {
    std::chrono::nanoseconds const now = std::chrono::steady_clock::now().time_since_epoch();
    p.seconds = std::chrono::duration<double>(now - std::chrono::nanoseconds(begin_ns)).count();
  }
  return p;
}

namespace {

std::string count_of(boundary_base const& b) {
  if (!b.count.has_bound()) return "unknown";
  return fmt::format("{}{}", b.count.is_exact() ? "" : "at most ", b.count.items);
}

}  // namespace

std::string graph_state::explain() {
  graph_plan const all = plan();
  std::string text;
  std::size_t number = 0;
  std::size_t const levels = all.components.back().level + 1;
  for (std::size_t level = 0; level < levels; ++level)
    for (phase_plan const& p : phases_of_level(all, level)) {
      text += fmt::format("phase {}\n", ++number);
      for (std::size_t i : p.segments) {
        text += fmt::format("  {}\n", segments[i].label);
        for (boundary_base const* b : segments[i].writes)
          text += fmt::format("    -> {}: {} items\n", b->name(), count_of(*b));
      }
      auto const claims = claims_of_phase(*this, p);
      auto const shares = shares_of(*this, claims);
      text += fmt::format("  memory {}\n", format_bytes(store.memory().total_bytes()));
      for (std::size_t i = 0; i < claims.size(); ++i) {
        memory_claim const& c = claims[i].claim;
        if (c.most == 0) continue;
        text += fmt::format("    {}: {} (least {}, knee {}, most {})\n", claims[i].name,
                            shares ? format_bytes((*shares)[i]) : "too little",
                            format_bytes(c.least), format_bytes(c.knee), format_bytes(c.most));
      }
    }
  return text;
}

}  // namespace outsize::stream::detail
