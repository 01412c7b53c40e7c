// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/detail/volumes.hpp>

#include <filesystem>
#include <string>
#include <system_error>

namespace outsize::stream::detail {
namespace {

using bytes = std::optional<std::uint64_t>;

bytes sum(bytes a, bytes b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

bytes bytes_of_files(segment_record const& s) {
  bytes all = 0;
  for (std::string const& path : s.what.input_files) {
    std::error_code error;
    auto const length = std::filesystem::file_size(path, error);
    all = sum(all, error ? bytes() : length);
  }
  return all;
}

}  // namespace

graph_volumes::graph_volumes(graph_state const& g) : graph_(g) {
  // In the order in which segments were added, which is that of the items.
  for (segment_record const& s : g.segments) expect(s);
}

void graph_volumes::expect(segment_record const& s) {
  bytes all = sum(bytes_of_files(s), s.what.is_input_known ? bytes(s.what.input_bytes) : bytes());
  for (boundary_base const* b : s.what.reads) all = sum(all, through(*b));
  into_[s.code.get()] = all;
}

bytes graph_volumes::through(boundary_base const& b) const {
  if (auto const known = b.count.bytes(b.item_bytes())) return known;
  auto const writer = into_.find(b.writer);
  return writer == into_.end() ? bytes() : writer->second;
}

bytes graph_volumes::bytes_to_come() const {
  bytes all = 0;
  for (segment_record const& s : graph_.segments)
    if (!s.has_run) all = sum(all, into_.at(s.code.get()));
  return all;
}

std::uint64_t graph_volumes::disk_bytes(phase_plan const& phase) const {
  auto const claims = claims_of_phase(graph_, phase);
  auto const shares = shares_of(graph_, claims);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    boundary_base const* const b = claims[i].written;
    if (b == nullptr) continue;
    bool const fits =
        b->what() == boundary_base::kind::sorter && shares && (*shares)[i] >= claims[i].claim.most;
    if (!fits) all += 2 * through(*b).value_or(0);
  }
  return all;
}

std::uint64_t graph_volumes::file_bytes(phase_plan const& phase) const {
  std::uint64_t all = 0;
  for (std::size_t i : phase.segments) {
    segment_record const& s = graph_.segments[i];
    all += bytes_of_files(s).value_or(0);
    for (auto const& file : s.what.output_files) {
      auto const known = s.code->size().bytes(file.item_bytes);
      all += known ? *known : into_.at(s.code.get()).value_or(0);
    }
  }
  return all;
}

}  // namespace outsize::stream::detail
