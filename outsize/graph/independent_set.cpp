// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/independent_set.hpp>

#include <limits>
#include <utility>

namespace outsize::graphs {
namespace {

/// Members on their way to a sink, some at a time.
class member_batches {
 public:
  explicit member_batches(member_sink const& take) : take_(take) {}

  void push(std::uint64_t v) {
    members_[count_++] = v;
    if (count_ == members_.size()) hand_over();
  }
  void hand_over() {
    if (count_ > 0) take_(std::span<std::uint64_t const>(members_).first(count_));
    count_ = 0;
  }

 private:
  member_sink const& take_;
  std::array<std::uint64_t, 512> members_;
  std::size_t count_ = 0;
};

template <vertex_number Vertex, typename Edges>
std::uint64_t find_with(storage& store, std::uint64_t vertices, Edges& edges,
                        member_sink const& take) {
  member_batches batches(take);
  std::uint64_t const members = independent_set(store, static_cast<Vertex>(vertices), edges,
                                                [&batches](Vertex v) { batches.push(v); });
  batches.hand_over();
  return members;
}

sort_options read_once(sort_options options) {
  options.rewindable = false;
  return options;
}

}  // namespace

independent_set_finder::independent_set_finder(storage& store, sort_options options)
    : store_(store),
      options_(read_once(std::move(options))),
      edges_(std::in_place_type<narrow>, store, options_) {}

void independent_set_finder::push(std::span<edge<std::uint64_t> const> edges) {
  if (auto* const in = std::get_if<narrow>(&edges_)) {
    std::uint64_t bits = 0;
    for (auto const& e : edges) bits |= e.from | e.to;
    if (bits <= std::numeric_limits<std::uint32_t>::max()) return in->push(edges);
    widen();
  }
  std::get<wide>(edges_).push(edges);
}

void independent_set_finder::widen() {
  narrow before = std::move(std::get<narrow>(edges_));
  wide& after = edges_.emplace<wide>(store_, options_);
  for (before.sort(); !before.empty(); ++before) {
    auto const e = *before;
    after.push(edge<std::uint64_t>{e.from, e.to});
  }
}

independent_set_report independent_set_finder::find(std::uint64_t vertices,
                                                    member_sink const& take) {
  bool const is_narrow = vertices <= std::numeric_limits<std::uint32_t>::max();
  return std::visit(
      [&](auto& edges) {
        edges.sort();
        std::uint64_t const members = is_narrow
                                          ? find_with<std::uint32_t>(store_, vertices, edges, take)
                                          : find_with<std::uint64_t>(store_, vertices, edges, take);
        return independent_set_report{
            .vertices = vertices,
            .members = members,
            .vertex_bytes = is_narrow ? sizeof(std::uint32_t) : sizeof(std::uint64_t),
            .sort = edges.report()};
      },
      edges_);
}

}  // namespace outsize::graphs
