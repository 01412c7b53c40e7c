// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/load_sampler.hpp>

#include <condition_variable>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <utility>

namespace outsize::block {

namespace {

double seconds_of_this_process() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

load_sampler::load_sampler(storage& store, io::load_series& to,
                           std::function<double()> busy_seconds)
    : store_(store),
      busy_seconds_(busy_seconds ? std::move(busy_seconds) : seconds_of_this_process),
      to_(to),
      before_(moved()) {
  sample();
  thread_ = std::jthread([this](std::stop_token const& stop) { run(stop); });
}

load_sampler::volume load_sampler::finish() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    sample();
  }
  volume const now = moved();
  return {now.disk_bytes - before_.disk_bytes, now.file_bytes - before_.file_bytes};
}

void load_sampler::run(std::stop_token const& stop) {
  std::mutex mutex;
  std::condition_variable_any tick;
  std::unique_lock held(mutex);
  while (!stop.stop_requested()) {
    tick.wait_for(held, stop, std::chrono::milliseconds(50), [] { return false; });
    sample();
  }
}

void load_sampler::sample() {
  auto const s = store_.total_statistics();
  std::chrono::duration<double> const since = std::chrono::steady_clock::now() - begin_;
  to_.add(since.count(),
          {static_cast<double>(s.read_bytes), static_cast<double>(s.write_bytes), busy_seconds_()});
}

load_sampler::volume load_sampler::moved() const {
  auto const files = store_.file_statistics().snapshot();
  auto const disks = store_.total_statistics() - files;
  return {disks.read_bytes + disks.write_bytes, files.read_bytes + files.write_bytes};
}

}  // namespace outsize::block
