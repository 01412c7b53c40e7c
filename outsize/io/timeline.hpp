// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// When requests were under way, and when threads waited for them: what statistics add up, one by
// one, for traces.
//
// A timeline has a track for each counter that writes to it (statistics::note_in). It keeps up to a
// million events, 40 bytes each, and counts the rest. Every function may be called from any thread.
// Layer: io.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <outsize/base/detail/process_locks.hpp>

namespace outsize::io {

/// A request from its issue to its completion, or a thread's wait. Times are those of the steady
/// clock.
struct timed_event {
  enum class kind : std::uint8_t { read, write, wait };
  std::size_t track = 0;
  kind what = kind::read;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;  ///< That moved; 0 of waits.
  friend bool operator==(timed_event const&, timed_event const&) = default;
};

/// The events of some counters; see the top of this file.
class timeline {
 public:
  /// Adds a track and returns its number.
  std::size_t add_track(std::string name);
  /// For statistics: something has ended.
  void add(timed_event const& e) noexcept;

  std::vector<std::string> tracks() const;
  /// In the order of their ends.
  std::vector<timed_event> events() const;
  /// Events beyond the most that are kept.
  std::uint64_t dropped() const;

 private:
  mutable outsize::detail::process_mutex mutex_;  // guards what follows
  std::vector<std::string> tracks_;
  std::vector<timed_event> events_;
  std::uint64_t dropped_ = 0;
};

}  // namespace outsize::io
