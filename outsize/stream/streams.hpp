// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// All of streams: flows, graphs, where they begin and end, and the operators between. Layer:
// stream.

#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/graph_report.hpp>
#include <outsize/stream/operators/adjacent.hpp>
#include <outsize/stream/operators/any_flow.hpp>
#include <outsize/stream/operators/chunk.hpp>
#include <outsize/stream/operators/enumerate.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/flat_map.hpp>
#include <outsize/stream/operators/group.hpp>
#include <outsize/stream/operators/hash_join.hpp>
#include <outsize/stream/operators/join.hpp>
#include <outsize/stream/operators/merge_flows.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/reorder.hpp>
#include <outsize/stream/operators/sample.hpp>
#include <outsize/stream/operators/set_operations.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/top.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/via.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/runs.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/stream/split_sinks.hpp>
#include <outsize/stream/stream_range.hpp>
#include <outsize/stream/text_sinks.hpp>
#include <outsize/stream/text_sources.hpp>
