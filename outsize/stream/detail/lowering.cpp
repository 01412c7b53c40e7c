// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// How a phase becomes a network: a node for each segment, a pool and a connection for each channel.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_division.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/stream/detail/graph_state.hpp>

namespace outsize::stream::detail {

phase_memory memory_of_phase(graph_state const& g, phase_plan const& phase) {
  phase_memory m;
  std::uint64_t const total = g.store.memory().total_bytes();
  std::size_t channels = 0, files = 0;
  for (std::size_t i : phase.segments) {
    files += g.segments[i].what.files;
    for (boundary_base const* b : g.segments[i].writes) channels += b->is_cut() ? 0 : b->lanes;
  }
  m.channel_buffers = g.options.channel_buffers != 0 ? g.options.channel_buffers : 4;
  m.channel_buffer_bytes =
      g.options.channel_buffer_bytes != 0
          ? g.options.channel_buffer_bytes
          : round_up<std::size_t>(
                std::clamp<std::uint64_t>(total / (64 * (channels + 1)), 4_KiB, 256_KiB),
                page_bytes());
  m.stream_bytes = total / std::max<std::size_t>(1, files);
  m.file_bytes = std::min<std::uint64_t>(m.stream_bytes / 8, 16_MiB);
  m.reserved_bytes = channels * m.channel_buffers * m.channel_buffer_bytes + files * m.file_bytes;
  return m;
}

std::vector<named_claim> claims_of_phase(graph_state const& g, phase_plan const& phase) {
  std::vector<named_claim> all;
  for (std::size_t i : phase.segments) {
    for (boundary_base* b : g.segments[i].what.reads)
      if (b->is_cut()) all.push_back({b->name() + ", read", b->reading_claim(g.store), b, nullptr});
    for (boundary_base* b : g.segments[i].writes)
      if (b->is_cut())
        all.push_back({b->name() + ", written", b->writing_claim(g.store), nullptr, b});
  }
  if (std::uint64_t const bytes = memory_of_phase(g, phase).reserved_bytes; bytes > 0)
    all.push_back({"channels and files", memory_claim::fixed(bytes), nullptr, nullptr});
  return all;
}

std::optional<std::vector<std::uint64_t>> shares_of(graph_state const& g,
                                                    std::vector<named_claim> const& claims) {
  std::vector<memory_claim> plain;
  for (named_claim const& c : claims) plain.push_back(c.claim);
  std::uint64_t const total = g.store.memory().total_bytes();
  return divide_memory(total, plain, total / 16);
}

namespace {

class lowered_phase {
 public:
  lowered_phase(graph_state& g, phase_plan const& phase, std::stop_token stop)
      : graph_(g),
        phase_(phase),
        number_(g.phase),
        stop_(std::move(stop)),
        memory_(memory_of_phase(g, phase_)),
        network_(g.store.memory(), network_options_of(g)) {}

  void run() {
    begin_boundaries();
    for (std::size_t i : phase_.segments) add_nodes(graph_.segments[i]);
    try {
      network_.run(stop_);
    } catch (pipeline::stage_error const& e) {
      note();
      throw_flow_error(e);
    } catch (...) {
      note();
      throw;
    }
    note();
    end_boundaries();
  }

 private:
  pipeline::network_options network_options_of(graph_state const& g) const {
    pipeline::network_options o;
    o.name = fmt::format("{}, phase {} of {}", g.name, number_, g.phases.load());
    o.threads = g.store.threads().threads();
    o.tune = false;
    o.trace = g.options.trace;
    if (g.options.progress)
      o.progress = [&g, last = g.phases == number_](pipeline::network_progress const& p) {
        graph_progress now = g.progress();
        now.finished = last && p.finished;
        if (!p.finished || now.finished) g.options.progress(now);
      };
    return o;
  }

  /// Sorts that are written claim first, then those that are read take their memory. The shares of
  /// all that come later are set aside meanwhile, so that each plans with its own.
  void begin_boundaries() {
    auto const claims = claims_of_phase(graph_, phase_);
    auto const shares = required_shares(claims);
    std::vector<std::uint64_t> lacking = shares;  // that are not there yet
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (boundary_base const* const b = claims[i].read)
        lacking[i] -= std::min(lacking[i], b->held_bytes());
      all += lacking[i];
    }
    grant reserved = set_aside(all);
    for (std::size_t i = 0; i < claims.size(); ++i)
      if (boundary_base* const b = claims[i].written) {
        reserved.shrink(lacking[i]);
        b->granted_bytes = shares[i];
        b->begin_writing(graph_.store, stop_);
      }
    for (std::size_t i = 0; i < claims.size(); ++i)
      if (boundary_base* const b = claims[i].read) {
        reserved.shrink(lacking[i]);
        b->granted_bytes = std::max(b->granted_bytes, shares[i]);
        b->begin_reading(graph_.store, shares[i]);
      }
  }
  /// As much of it as there is.
  grant set_aside(std::uint64_t bytes) const {
    auto& budget = graph_.store.memory();
    for (std::uint64_t const most : {budget.obtainable_bytes(), budget.free_bytes()}) try {
        return budget.take(std::min(bytes, most), "shares of the graph");
      } catch (budget_error const&) {  // of what others could give, some is needed to give it
      }
    return budget.take(0, "shares of the graph");
  }
  /// @throws budget_error if there is too little memory for the least of each.
  std::vector<std::uint64_t> required_shares(std::vector<named_claim> const& claims) const {
    auto shares = shares_of(graph_, claims);
    if (shares) return std::move(*shares);
    std::uint64_t const total = graph_.store.memory().total_bytes();
    std::uint64_t least = 0;
    std::map<std::string, std::size_t> needs;
    for (named_claim const& c : claims) {
      least += c.claim.least;
      ++needs[fmt::format("{} {}", c.name, format_bytes(c.claim.least))];
    }
    std::string all;
    for (auto const& [what, times] : needs)
      all += (all.empty() ? "" : ", ") + (times > 1 ? fmt::format("{} × ", times) : "") + what;
    auto const asker =
        fmt::format("{}, phase {} of {}", graph_.name, number_, graph_.phases.load());
    throw budget_error(asker, total, least,
                       fmt::format("{}: {} of memory, {} needed: {}", asker, format_bytes(total),
                                   format_bytes(least), all));
  }
  void end_boundaries() {
    for (std::size_t i : phase_.segments)
      for (boundary_base* b : graph_.segments[i].what.reads) {
        b->end_reading();
        note(*b);
      }
  }

  void add_nodes(segment_record const& s) {
    std::size_t const replicas = s.code->is_replicated() ? s.writes.front()->lanes : 1;
    for (std::size_t r = 0; r < replicas; ++r) add_node(s, r);
  }

  /// Calls `use` for each lane of a channel that leads to or from a segment.
  template <typename Use>
  static void for_channels(std::vector<boundary_base*> const& all, segment_base const& of,
                           std::size_t replica, Use const& use) {
    for (boundary_base* b : all) {
      if (b->is_cut()) continue;
      if (of.is_replicated()) {
        use(*b, replica);
      } else {
        for (std::size_t lane = 0; lane < b->lanes; ++lane) use(*b, lane);
      }
    }
  }

  void add_node(segment_record const& s, std::size_t replica) {
    auto& connections = connections_.emplace_back();
    pipeline::node_options o;
    o.outputs = 0;
    for_channels(s.what.reads, *s.code, replica, [&](boundary_base& b, std::size_t lane) {
      connections.push_back({&b, lane, o.inputs.size()});
      o.inputs.push_back(lines_.at({&b, lane}));
    });
    std::vector<std::pair<boundary_base const*, std::size_t>> out;
    for_channels(s.writes, *s.code, replica, [&](boundary_base& b, std::size_t lane) {
      connections.push_back({&b, lane, o.outputs++});
      out.emplace_back(&b, lane);
      o.pools.push_back(
          network_.pool({.name = b.name(),
                         .buffer_bytes = std::max(memory_.channel_buffer_bytes, b.item_bytes()),
                         .count = memory_.channel_buffers}));
    });
    auto& memory = nodes_.emplace_back();
    memory.channels_bytes = out.size() * memory_.channel_buffers * memory_.channel_buffer_bytes;
    memory.files = replica == 0 ? s.what.files : 0;
    auto const body = [this, code = s.code.get(), &connections, &memory,
                       replica](pipeline::ports& p) {
      segment_context c(graph_.store, p, connections, replica, memory_.stream_bytes,
                        graph_.moved_bytes, memory.held_bytes, stop_);
      code->run(c);
    };
    auto const lines = network_.node(s.label, std::move(o), body);
    if (replica == 0) graph_.places[s.code.get()] = {number_, lines.id.index};
    for (std::size_t i = 0; i < out.size(); ++i) lines_.emplace(out[i], lines[i]);
  }

  void note() {
    auto report = network_.report();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto& stage = report.stages[i];
      node_memory const& m = nodes_[i];
      stage.granted_bytes = m.channels_bytes + m.files * memory_.file_bytes;
      stage.used_bytes = m.channels_bytes + m.held_bytes;
    }
    graph_.report.phases.push_back(std::move(report));
  }
  void note(boundary_base const& b) {
    using kind = boundary_base::kind;
    graph_report::boundary to{.name = b.name(),
                              .kind = b.what() == kind::sorter  ? "sorter"
                                      : b.what() == kind::store ? "store"
                                                                : "channel",
                              .from = graph_.places[b.writer],
                              .to = graph_.places[b.reader],
                              .items = b.count.items,
                              .item_bytes = b.item_bytes(),
                              .spilled_items = b.spilled_items,
                              .granted_bytes = b.granted_bytes};
    if (sort_report const* r = b.report()) to.sort = *r;
    graph_.report.boundaries.push_back(std::move(to));
  }

  [[noreturn]] void throw_flow_error(pipeline::stage_error const& e) {
    auto const rethrow = [&](std::string const& reason) {
      throw flow_error(graph_.name, number_, graph_.phases.load(), e.stage_name(), reason);
    };
    try {
      e.rethrow_nested();
    } catch (cancelled const& reason) {
      if (stop_.stop_requested()) throw cancelled(graph_.name);  // a sort saw it first
      rethrow(reason.what());
    } catch (std::exception const& reason) {
      rethrow(reason.what());
    } catch (...) {
      rethrow("unknown exception");
    }
    std::terminate();
  }

  graph_state& graph_;
  phase_plan const& phase_;
  std::size_t number_;
  std::stop_token stop_;
  phase_memory memory_;
  /// The memory of a node of the network.
  struct node_memory {
    std::uint64_t channels_bytes = 0;  // that it writes to
    std::size_t files = 0;
    std::uint64_t held_bytes = 0;  // by its files
  };
  std::deque<std::vector<segment_context::port>> connections_;  // of each node
  std::deque<node_memory> nodes_;                               // likewise
  std::map<std::pair<boundary_base const*, std::size_t>, pipeline::line> lines_;
  pipeline::network network_;
};

}  // namespace

void run_phase(graph_state& g, phase_plan const& phase, std::stop_token stop) {
  lowered_phase(g, phase, std::move(stop)).run();
}

}  // namespace outsize::stream::detail
