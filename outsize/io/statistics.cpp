// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/statistics.hpp>

#include <chrono>
#include <utility>

#include <outsize/io/timeline.hpp>

namespace outsize::io {
namespace {

/// Something that took `time_ns` ends now.
void note(timeline* where, std::size_t track, timed_event::kind what, std::uint64_t bytes,
          std::uint64_t time_ns) noexcept {
  if (where == nullptr) return;
  auto const now =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  where->add({track, what, now - static_cast<std::int64_t>(time_ns), now, bytes});
}

}  // namespace

// Every counter stands for itself, so relaxed order is enough; a snapshot taken after wait() still
// sees the request, because completion and wait() synchronise through the request.
constexpr auto relaxed = std::memory_order_relaxed;

statistics_snapshot& statistics_snapshot::operator+=(statistics_snapshot const& other) noexcept {
  read_count += other.read_count;
  read_bytes += other.read_bytes;
  read_time_ns += other.read_time_ns;
  write_count += other.write_count;
  write_bytes += other.write_bytes;
  write_time_ns += other.write_time_ns;
  wait_ns += other.wait_ns;
  return *this;
}

statistics_snapshot& statistics_snapshot::operator-=(statistics_snapshot const& other) noexcept {
  read_count -= other.read_count;
  read_bytes -= other.read_bytes;
  read_time_ns -= other.read_time_ns;
  write_count -= other.write_count;
  write_bytes -= other.write_bytes;
  write_time_ns -= other.write_time_ns;
  wait_ns -= other.wait_ns;
  return *this;
}

void statistics::add_request(operation kind, std::size_t bytes, std::uint64_t time_ns) noexcept {
  counters& c = kind == operation::read ? reads_ : writes_;
  c.count.fetch_add(1, relaxed);
  c.bytes.fetch_add(bytes, relaxed);
  c.time_ns.fetch_add(time_ns, relaxed);
  note(timeline_.load(), track_,
       kind == operation::read ? timed_event::kind::read : timed_event::kind::write, bytes,
       time_ns);
}

void statistics::add_wait(std::uint64_t wait_ns) noexcept {
  wait_ns_.fetch_add(wait_ns, relaxed);
  note(timeline_.load(), track_, timed_event::kind::wait, 0, wait_ns);
}

void statistics::note_in(timeline* where, std::string name) {
  if (where != nullptr) track_ = where->add_track(std::move(name));
  timeline_.store(where);
}

statistics_snapshot statistics::snapshot() const noexcept {
  statistics_snapshot now;
  now.read_count = reads_.count.load(relaxed);
  now.read_bytes = reads_.bytes.load(relaxed);
  now.read_time_ns = reads_.time_ns.load(relaxed);
  now.write_count = writes_.count.load(relaxed);
  now.write_bytes = writes_.bytes.load(relaxed);
  now.write_time_ns = writes_.time_ns.load(relaxed);
  now.wait_ns = wait_ns_.load(relaxed);
  return now;
}

}  // namespace outsize::io
