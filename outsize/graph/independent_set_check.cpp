// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/independent_set_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/sequence.hpp>

namespace outsize::graphs {

/// See the top of the header.
class independent_set_check::method {
 public:
  method() = default;
  method(method const&) = delete;
  method& operator=(method const&) = delete;
  virtual ~method() = default;

  virtual void push_members(std::span<std::uint64_t const> members) = 0;
  virtual void push_edges(std::span<edge<std::uint64_t> const> edges) = 0;
  virtual std::optional<independence_fault> fault() = 0;
};

namespace {

using kind = independence_fault::kind;

independence_fault dependent(edge<std::uint64_t> e) { return {kind::dependent_edge, e.upward()}; }
independence_fault uncovered(std::uint64_t v) { return {kind::uncovered_vertex, {v, v}}; }

/// A bit for each vertex, in memory of the budget.
class vertex_bits {
 public:
  static std::uint64_t bytes_for(std::uint64_t vertices) {
    return round_up<std::uint64_t>(vertices / 8 + 1, page_bytes());
  }

  vertex_bits(storage& store, std::uint64_t vertices)
      : grant_(store.memory().take(bytes_for(vertices), "independent set")),
        memory_(grant_.allocate(bytes_for(vertices))),
        words_(reinterpret_cast<std::uint64_t*>(memory_.data())) {
    std::fill_n(words_, memory_.size() / sizeof(std::uint64_t), 0);
  }

  void set(std::uint64_t v) noexcept { words_[v / 64] |= std::uint64_t{1} << v % 64; }
  bool has(std::uint64_t v) const noexcept { return (words_[v / 64] >> v % 64 & 1) != 0; }

 private:
  grant grant_;
  buffer memory_;
  std::uint64_t* words_;
};

class check_by_bitmaps final : public independent_set_check::method {
 public:
  check_by_bitmaps(storage& store, std::uint64_t vertices)
      : vertices_(vertices), members_(store, vertices), covered_(store, vertices) {}

  void push_members(std::span<std::uint64_t const> members) override {
    for (std::uint64_t const v : members) {
      members_.set(v);
      covered_.set(v);
    }
  }
  void push_edges(std::span<edge<std::uint64_t> const> edges) override {
    for (auto const& e : edges) {
      bool const from = members_.has(e.from), to = members_.has(e.to);
      if (from == to) {
        if (from && !e.is_loop()) note(dependent(e));
      } else {
        covered_.set(from ? e.to : e.from);
      }
    }
  }
  std::optional<independence_fault> fault() override {
    if (fault_) return fault_;
    for (std::uint64_t v = 0; v < vertices_; ++v)
      if (!covered_.has(v)) return uncovered(v);
    return std::nullopt;
  }

 private:
  void note(independence_fault found) { fault_ = fault_ ? std::min(*fault_, found) : found; }

  std::uint64_t vertices_;
  vertex_bits members_;
  vertex_bits covered_;  // members, and vertices with a neighbour that is one
  std::optional<independence_fault> fault_;
};

/// Goes along an ascending stream of vertices beside another one.
template <typename Members>
bool holds(Members& members, std::uint64_t v) {
  while (!members.empty() && *members < v) ++members;
  return !members.empty() && *members == v;
}

template <vertex_number Vertex>
class check_by_sorting final : public independent_set_check::method {
  using number = detail::edge_number<Vertex>;
  using arcs = sorter<typename number::type>;

 public:
  check_by_sorting(storage& store, std::uint64_t vertices, sort_options options)
      : store_(store),
        vertices_(vertices),
        options_(once(std::move(options))),
        unsorted_members_(std::in_place, store, std::less<>(), options_),
        members_(store) {}

  void push_members(std::span<std::uint64_t const> members) override {
    for (std::uint64_t const v : members) unsorted_members_->push(static_cast<Vertex>(v));
  }
  void push_edges(std::span<edge<std::uint64_t> const> edges) override {
    keep_members();
    for (auto const& e : edges) {
      if (e.is_loop()) continue;
      auto const from = static_cast<Vertex>(e.from), to = static_cast<Vertex>(e.to);
      arcs_->push(number::of(from, to));
      arcs_->push(number::of(to, from));
    }
  }
  std::optional<independence_fault> fault() override {
    keep_members();
    arcs from_members(store_, std::less<>(), options_);  // by their heads
    auto members = members_.forward();
    for (arcs_->sort(); !arcs_->empty(); ++*arcs_) {
      auto const e = number::edge_of(**arcs_);
      if (holds(members, e.from)) from_members.push(number::of(e.to, e.from));
    }
    arcs_.reset();
    from_members.sort();
    return first_fault(from_members);
  }

 private:
  static sort_options once(sort_options options) {
    options.unique = true;
    options.rewindable = false;
    return options;
  }

  /// Sorts the members; they are read twice.
  void keep_members() {
    if (!unsorted_members_) return;
    for (unsorted_members_->sort(); !unsorted_members_->empty(); ++*unsorted_members_)
      members_.push_back(**unsorted_members_);
    unsorted_members_.reset();
    arcs_.emplace(store_, std::less<>(), options_);
  }

  /// The least edge from a member to a member comes first among these arcs, turned.
  std::optional<independence_fault> first_fault(arcs& to_neighbours) {
    auto members = members_.forward();
    std::optional<independence_fault> lonely;
    std::uint64_t next = 0;  // covered are all vertices below, but `lonely`
    auto const skip_to = [&](std::uint64_t v) {
      for (; next < v; ++next)
        if (!holds(members, next) && !lonely) lonely = uncovered(next);
    };
    for (; !to_neighbours.empty(); ++to_neighbours) {
      auto const e = number::edge_of(*to_neighbours);
      skip_to(e.from);
      if (holds(members, e.from)) return dependent({e.from, e.to});
      next = std::uint64_t{e.from} + 1;
    }
    skip_to(vertices_);
    return lonely;
  }

  storage& store_;
  std::uint64_t vertices_;
  sort_options options_;
  std::optional<sorter<Vertex>> unsorted_members_;
  sequence<Vertex> members_;
  std::optional<arcs> arcs_;
};

bool fits_in_memory(storage& store, std::uint64_t vertices,
                    independent_set_check_options const& options) {
  std::uint64_t const most =
      options.most_bitmap_bytes.value_or(store.memory().obtainable_bytes() / 2);
  return 2 * vertex_bits::bytes_for(vertices) <= most;
}

void refuse(std::uint64_t v, std::uint64_t vertices) {
  throw format_error(
      fmt::format("independent set: vertex {}, but there are {} vertices", v, vertices));
}

}  // namespace

std::string independence_fault::message(std::uint64_t first_vertex) const {
  if (what == kind::uncovered_vertex)
    return fmt::format("vertex {} is no member and has no neighbour that is one",
                       where.from + first_vertex);
  return fmt::format("{} and {} are members and joined by an edge", where.from + first_vertex,
                     where.to + first_vertex);
}

independent_set_check::independent_set_check(storage& store, std::uint64_t vertices,
                                             independent_set_check_options options)
    : vertices_(vertices), uses_bitmaps_(fits_in_memory(store, vertices, options)) {
  if (uses_bitmaps_)
    method_ = std::make_unique<check_by_bitmaps>(store, vertices);
  else if (vertices <= std::numeric_limits<std::uint32_t>::max())
    method_ = std::make_unique<check_by_sorting<std::uint32_t>>(store, vertices,
                                                                std::move(options.sorting));
  else
    method_ = std::make_unique<check_by_sorting<std::uint64_t>>(store, vertices,
                                                                std::move(options.sorting));
}

independent_set_check::~independent_set_check() = default;

void independent_set_check::push_members(std::span<std::uint64_t const> members) {
  for (std::uint64_t const v : members)
    if (v >= vertices_) refuse(v, vertices_);
  method_->push_members(members);
}

void independent_set_check::push_edges(std::span<edge<std::uint64_t> const> edges) {
  for (auto const& e : edges)
    if (std::max(e.from, e.to) >= vertices_) refuse(std::max(e.from, e.to), vertices_);
  method_->push_edges(edges);
}

std::optional<independence_fault> independent_set_check::fault() { return method_->fault(); }

}  // namespace outsize::graphs
