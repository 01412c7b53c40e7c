// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The surroundings of a running segment: its storage, its ports in the phase's network, and its
// share of the memory for streams.
//
// Before a segment waits for something it conveys the buffers that it has begun to fill, so that
// nobody waits for items that lie there: one buffer is enough for every connection. One thread at
// a time. Layer: stream, internal.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include <outsize/pipeline/network.hpp>

namespace outsize {
class storage;
}

namespace outsize::stream::detail {

class boundary_base;

/// Holds items back until there are many.
class gatherer {
 public:
  /// Sends on as much as it can without waiting. Returns whether there was something.
  virtual bool flush() = 0;

 protected:
  ~gatherer() = default;
};

class segment_context {
 public:
  /// Where a lane of a boundary is connected: its number among inputs, or among pools and outputs.
  struct port {
    boundary_base const* boundary;
    std::size_t lane;
    std::size_t index;
  };

  segment_context(storage& store, pipeline::ports ports, std::vector<port> const& connections,
                  std::size_t replica, std::uint64_t stream_memory_bytes,
                  std::atomic<std::uint64_t>& moved_bytes, std::uint64_t& held_bytes,
                  std::stop_token stop)
      : store_(store),
        ports_(ports),
        connections_(connections),
        replica_(replica),
        stream_memory_bytes_(stream_memory_bytes),
        moved_bytes_(moved_bytes),
        held_bytes_(held_bytes),
        stop_(std::move(stop)) {}
  segment_context(segment_context const&) = delete;
  segment_context& operator=(segment_context const&) = delete;

  storage& store() const noexcept { return store_; }
  pipeline::ports& ports() noexcept { return ports_; }
  std::stop_token const& stop() const noexcept { return stop_; }
  /// For each file that it reads or writes.
  std::uint64_t stream_memory_bytes() const noexcept { return stream_memory_bytes_; }
  /// @pre the boundary is connected to this segment.
  std::size_t port_of(boundary_base const& b, std::size_t lane = 0) const noexcept {
    return std::find_if(connections_.begin(), connections_.end(),
                        [&](port const& p) { return p.boundary == &b && p.lane == lane; })
        ->index;
  }
  /// Returns its number among the segments that work side by side.
  std::size_t replica() const noexcept { return replica_; }

  /// Says that these have come in. @throws poisoned if the graph was cancelled or has failed.
  void note(std::uint64_t items, std::uint64_t bytes) {
    ports_.note(items, bytes);
    moved_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// Says that a file of the segment takes these bytes of memory, for the report.
  void hold(std::uint64_t bytes) noexcept { held_bytes_ += bytes; }
  /// Calls `f`, which may wait for a disk or for a sort: other segments go on meanwhile.
  template <typename F>
  decltype(auto) outside(F&& f) {
    return ports_.outside(std::forward<F>(f));
  }

  void add(gatherer& g) { gatherers_.push_back(&g); }
  void remove(gatherer& g) noexcept { std::erase(gatherers_, &g); }
  bool flush_all(gatherer const* but = nullptr) {
    bool any = false;
    for (gatherer* const g : gatherers_)
      if (g != but) any |= g->flush();
    return any;
  }

 private:
  storage& store_;
  pipeline::ports ports_;
  std::vector<port> const& connections_;
  std::size_t replica_;
  std::uint64_t stream_memory_bytes_;
  std::atomic<std::uint64_t>& moved_bytes_;
  std::uint64_t& held_bytes_;
  std::stop_token stop_;
  std::vector<gatherer*> gatherers_;
};

}  // namespace outsize::stream::detail
