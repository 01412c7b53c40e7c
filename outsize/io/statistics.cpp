// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/statistics.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <outsize/io/timeline.hpp>

namespace outsize::io {
namespace {

std::int64_t now_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Something has taken from `begin_ns` to `end_ns`.
void note(timeline* where, std::size_t track, timed_event::kind what, std::uint64_t bytes,
          std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  if (where != nullptr) where->add({track, what, begin_ns, end_ns, bytes});
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
  busy_ns += other.busy_ns;
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
  busy_ns -= other.busy_ns;
  wait_ns -= other.wait_ns;
  return *this;
}

void statistics::add_request(operation kind, std::size_t bytes, std::uint64_t time_ns) noexcept {
  counters& c = kind == operation::read ? reads_ : writes_;
  c.count.fetch_add(1, relaxed);
  c.bytes.fetch_add(bytes, relaxed);
  c.time_ns.fetch_add(time_ns, relaxed);
  std::int64_t const end_ns = now_ns();
  std::int64_t const begin_ns = end_ns - static_cast<std::int64_t>(time_ns);
  add_busy(begin_ns, end_ns);
  note(timeline_.load(), track_,
       kind == operation::read ? timed_event::kind::read : timed_event::kind::write, bytes,
       begin_ns, end_ns);
}

// Adds what the request lengthens the time in which there were any: all of it, or if it was issued
// before others had ended, what came after the last of these.
void statistics::add_busy(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  std::int64_t until_ns = busy_until_ns_.load(relaxed);
  while (until_ns < end_ns && !busy_until_ns_.compare_exchange_weak(until_ns, end_ns, relaxed)) {
  }
  if (until_ns < end_ns)
    busy_ns_.fetch_add(static_cast<std::uint64_t>(end_ns - std::max(begin_ns, until_ns)), relaxed);
}

void statistics::add_wait(std::uint64_t wait_ns) noexcept {
  wait_ns_.fetch_add(wait_ns, relaxed);
  std::int64_t const end_ns = now_ns();
  note(timeline_.load(), track_, timed_event::kind::wait, 0,
       end_ns - static_cast<std::int64_t>(wait_ns), end_ns);
}

timed_wait::timed_wait(statistics* counter) noexcept : counter_(counter), begin_ns_(now_ns()) {}

std::uint64_t timed_wait::elapsed_ns() const noexcept {
  return static_cast<std::uint64_t>(now_ns() - begin_ns_);
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
  now.busy_ns = busy_ns_.load(relaxed);
  now.wait_ns = wait_ns_.load(relaxed);
  return now;
}

}  // namespace outsize::io
