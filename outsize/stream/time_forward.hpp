// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Time-forward processing: a directed acyclic graph larger than memory is evaluated, vertex by
// vertex.
//
//   edges, sorted by tail ─▶ visit(v, messages, edges) ─send─▶ priority queue ─▶ visit(w, …)
//
// Invariant: the queue has the messages to vertices not visited yet. One thread. Layer: stream.
// Source: Chiang et al.: External-memory graph algorithms, SODA 1995; STXXL 2008, section 5.4.

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/stream/element_stream.hpp>

namespace outsize::stream {

namespace detail {

/// Messages to vertices, the least vertex first, in the order in which they were sent.
template <typename Vertex, typename Message>
class message_queue {
 public:
  using received = std::span<Message const>;

  message_queue(storage& store, priority_queue_options options)
      : waiting_(store, in_input_order(by(&letter::to, std::greater<>())), options) {}

  void send(Vertex to, Message const& message) { waiting_.push({to, message}); }
  received receive(Vertex v) {
    messages_.clear();
    for (; !waiting_.empty() && waiting_.top().to == v; waiting_.pop())
      messages_.push_back(waiting_.top().message);
    return messages_;
  }
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  struct letter {
    Vertex to;
    Message message;
  };
  priority_queue<letter, decltype(in_input_order(by(&letter::to, std::greater<>())))> waiting_;
  std::vector<Message> messages_;
};

/// Messages that say nothing: their number counts.
template <typename Vertex>
class message_queue<Vertex, void> {
 public:
  using received = std::uint64_t;

  message_queue(storage& store, priority_queue_options options) : waiting_(store, {}, options) {}

  void send(Vertex to) { waiting_.push(to); }
  received receive(Vertex v) {
    std::uint64_t count = 0;
    for (; !waiting_.empty() && waiting_.top() == v; waiting_.pop()) ++count;
    return count;
  }
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  priority_queue<Vertex, std::greater<>> waiting_;
};

}  // namespace detail

/// The edges of the vertex that time_forward() visits, as a stream.
template <typename Vertex, typename Message, element_stream Edges, typename Tail, typename Head>
class outgoing_edges {
 public:
  using value_type = stream_item_t<Edges>;

  outgoing_edges(Vertex vertices, Edges& edges, Tail tail, Head head,
                 detail::message_queue<Vertex, Message>& to)
      : vertices_(vertices),
        edges_(edges),
        tail_(std::move(tail)),
        head_(std::move(head)),
        to_(to) {}

  bool empty() { return edges_.empty() || std::invoke(tail_, *edges_) != vertex_; }
  decltype(auto) operator*() const { return *edges_; }
  outgoing_edges& operator++() {
    ++edges_;
    return *this;
  }

  /// Sends a message to the head of the current edge; without an argument if Message is void.
  /// @throws std::invalid_argument if that is no later vertex; as priority_queue::push().
  template <typename... M>
  void send(M const&... message) {
    to_.send(checked_head(), message...);
  }
  /// Sends a message along all edges that are left.
  template <typename... M>
  void send_all(M const&... message) {
    for (; !empty(); ++edges_) send(message...);
  }

  /// For time_forward(): goes on to a vertex. @throws std::invalid_argument if edges are left that
  /// should have come before.
  void go_to(Vertex v) {
    vertex_ = v;
    if (!edges_.empty() && std::invoke(tail_, *edges_) < v)
      throw std::invalid_argument(
          fmt::format("time_forward: edges of vertex {} come after those of vertex {}",
                      std::invoke(tail_, *edges_), v - 1));
  }
  void skip() {
    while (!empty()) ++edges_;
  }
  std::uint64_t tail() const { return std::invoke(tail_, *edges_); }

 private:
  Vertex checked_head() const {
    std::uint64_t const head = std::invoke(head_, *edges_);
    if (head <= vertex_ || head >= vertices_)
      throw std::invalid_argument(
          fmt::format("time_forward: an edge from {} to {}, which is not a later vertex below {}",
                      vertex_, head, vertices_));
    return static_cast<Vertex>(head);
  }

  Vertex vertices_;
  Edges& edges_;
  Tail tail_;
  Head head_;
  detail::message_queue<Vertex, Message>& to_;
  Vertex vertex_ = 0;
};

/// Visits the vertices 0 to `vertices` - 1 in order. Each visit gets the messages that earlier ones
/// have sent to the vertex, and its edges, along which it can send messages:
///
///     // The length of the longest path to each vertex.
///     time_forward<std::uint32_t>(store, n, edges, &edge::from, &edge::to,
///         [&](std::uint32_t v, std::span<std::uint32_t const> lengths, auto& out) {
///           auto const length = lengths.empty() ? 0 : std::ranges::max(lengths) + 1;
///           out.send_all(length);
///         });
///
/// Messages come in the order in which they were sent, that of their senders. If Message is void,
/// there is only their number, and send() has no argument.
///
/// @tparam Message  external_item, or void.
/// @param edges  An element_stream sorted by tail. Its edges need not differ.
/// @param tail, head  A member of edges, or a function, that yields a vertex; tail < head.
/// @param visit  Called as visit(v, std::span<Message const> or std::uint64_t, edges).
///
/// I/Os:    those of a priority_queue of all messages, and of the edges.
/// Memory:  a queue's (options), and the messages of one vertex.
/// Errors:  std::invalid_argument if edges are not sorted, or lead to an earlier vertex or none, as
///          far as messages are sent there; errors of the queue, and exceptions of `visit`.
/// Source:  Chiang et al., SODA 1995. Checked: time_forward_test.cpp.
template <typename Message, typename Vertex, element_stream Edges, typename Tail, typename Head,
          typename Visit>
void time_forward(storage& store, Vertex vertices, Edges& edges, Tail tail, Head head, Visit visit,
                  priority_queue_options options = {}) {
  static_assert(std::is_unsigned_v<Vertex>, "outsize: vertices are unsigned integers");
  detail::message_queue<Vertex, Message> messages(store, options);
  outgoing_edges<Vertex, Message, Edges, Tail, Head> out(vertices, edges, std::move(tail),
                                                         std::move(head), messages);
  for (Vertex v = 0; v < vertices; ++v) {
    out.go_to(v);
    visit(v, messages.receive(v), out);
    out.skip();
  }
  if (!edges.empty())
    throw std::invalid_argument(fmt::format(
        "time_forward: an edge of vertex {}, but there are {} vertices", out.tail(), vertices));
}

}  // namespace outsize::stream
