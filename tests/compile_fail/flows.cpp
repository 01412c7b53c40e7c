// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Flows that cannot be, each behind a macro; compiles without any.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

using namespace outsize::stream;

inline auto fine(std::vector<int> const& v) {
  auto some = from(v) | filter([](int x) { return x > 0; });
  return std::move(some) | sort() | discard();
}

#ifdef FLOW_USED_TWICE
inline void bad(std::vector<int> const& v) {
  auto some = from(v) | filter([](int x) { return x > 0; });
  run(some | discard());
}
#endif

#ifdef ORDER_OF_ANOTHER_TYPE
inline auto bad(std::vector<int> const& v) {
  return from(v) | sort([](std::string const& a, std::string const& b) { return a < b; }) |
         discard();
}
#endif

#ifdef NAME_OF_A_FILE
inline auto bad() { return from("numbers") | discard(); }
#endif

#ifdef SORT_OF_TUPLES
inline auto bad(std::vector<std::pair<int, int>> const& v) { return from(v) | sort() | discard(); }
#endif

#ifdef SORT_OF_POINTERS
inline auto bad(std::vector<int*> const& v) { return from(v) | sort() | discard(); }
#endif

#ifdef POINTERS_TO_ANOTHER_THREAD
inline auto bad(std::vector<int*> const& v) { return from(v) | async() | discard(); }
#endif

#ifdef FLOW_WITHOUT_A_SINK
inline void bad(std::vector<int> const& v) { run(from(v) | sort()); }
#endif
