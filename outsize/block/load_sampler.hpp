// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Watches the load of a storage's disks and files, and of the processors, while something runs.
//
// Samples about 20 times a second on a thread of its own, which sleeps between. One thread makes
// and finishes it. Layer: block.

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include <outsize/block/storage.hpp>
#include <outsize/io/load_series.hpp>

namespace outsize::block {

class load_sampler {
 public:
  /// Begins to sample. `store` and `to` must outlive the sampler; nobody else uses `to` before
  /// finish().
  /// @param busy_seconds  Time of processors so far, if it is not that of this process: called by
  /// the sampler's thread and by finish(); does not decrease.
  load_sampler(storage& store, io::load_series& to, std::function<double()> busy_seconds = {});
  ~load_sampler() { finish(); }
  load_sampler(load_sampler const&) = delete;
  load_sampler& operator=(load_sampler const&) = delete;

  /// Bytes read and written since the beginning.
  struct volume {
    std::uint64_t disk_bytes = 0;  ///< Blocks.
    std::uint64_t file_bytes = 0;  ///< Files of users.
  };
  /// Ends it.
  volume finish();

 private:
  void run(std::stop_token const& stop);
  void sample();
  volume moved() const;

  storage& store_;
  std::function<double()> busy_seconds_;
  io::load_series& to_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  volume before_;
  std::jthread thread_;
};

}  // namespace outsize::block
