// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the code in pages takes for granted, in a namespace for each page (page_code.py).
//
// Nothing of this is defined anywhere: the code is compiled, and neither linked nor run. Layer:
// tests.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/matrix.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/graph/edge_list.hpp>
#include <outsize/graph/independent_set.hpp>
#include <outsize/io/file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/item_stages.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/scan/algorithms.hpp>
#include <outsize/stream/streams.hpp>

namespace docs_containers_algorithms {

struct edge {
  std::uint32_t from, to;
};
bool is_long(edge const& e);
extern outsize::vector<edge> edges;
extern outsize::vector<double> a, b, out;

}  // namespace docs_containers_algorithms

namespace docs_containers_map {

struct account {
  std::int64_t cents;
};
using map = outsize::map<std::uint64_t, account>;
extern outsize::storage store;
extern map accounts;
extern std::vector<std::uint64_t> const numbers;
extern std::vector<map::value_type> const entries;
void use(std::span<map::value_type const> some);

}  // namespace docs_containers_map

namespace docs_containers_matrix {

using outsize::matrix;
extern outsize::storage store;
extern matrix<double> a, b, c;

}  // namespace docs_containers_matrix

namespace docs_containers_unordered_map {

using key = std::uint64_t;
using value = std::uint32_t;
extern outsize::storage store;

}  // namespace docs_containers_unordered_map

namespace docs_containers_vector {

struct event {
  std::uint64_t time;
  std::uint32_t user, kind;
};
extern outsize::storage store;
extern std::vector<std::uint64_t> const indices;
extern std::vector<double> values;

}  // namespace docs_containers_vector

namespace docs_graphs {

using namespace outsize;
extern storage store;
void use(std::span<std::uint64_t const> members);

}  // namespace docs_graphs

namespace docs_pipelines {

using namespace outsize;
using namespace outsize::pipeline;
extern storage store;
extern io::file_ptr in, out;
extern network n;
extern std::vector<line> const runs;
extern pooled_buffer full;
std::size_t smallest();
void send(std::span<std::byte const> bytes);

}  // namespace docs_pipelines

namespace docs_streams {

using namespace outsize;
using namespace outsize::stream;
struct edge {
  std::uint32_t from, to;
  auto operator<=>(edge const&) const = default;
};
extern storage store;
extern outsize::vector<edge> edges, clean;
bool is_no_loop(edge const& e);
bool is_needed(edge const& e);
edge canonical(edge const& e);

}  // namespace docs_streams
