// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What takes time on a disk: the interface of models that say how long requests take.
//
//   rotating_disk   an arm, tracks in zones, a revolution
//   flash_disk      a latency, several requests at once, a common link
//
// A model has a clock of its own, in nanoseconds from 0. It is told of one request after another
// and says when each has ended; it moves no bytes. The same requests give the same times. One
// thread at a time: simulated_disk sees to that. Layer: io.

#include <chrono>
#include <cstdint>

#include <outsize/io/statistics.hpp>

namespace outsize::io {

/// What a disk is asked to do, and when, by its clock. Bytes beyond its capacity take no time: the
/// file that holds the content refuses them.
struct disk_request {
  operation kind;
  std::uint64_t offset_bytes;
  std::uint64_t length_bytes;
  std::chrono::nanoseconds arrival{0};  ///< Not before that of an earlier request.
};

/// What the time of requests was made of. Waiting for earlier requests is no part of it.
struct disk_time {
  std::chrono::nanoseconds overhead{0};  ///< Before anything moves: controller, latency of flash.
  std::chrono::nanoseconds seek{0};      ///< The arm moves, or another head is chosen.
  std::chrono::nanoseconds rotation{0};  ///< Until the first byte is below the head.
  std::chrono::nanoseconds transfer{0};  ///< The bytes move.

  std::chrono::nanoseconds total() const noexcept { return overhead + seek + rotation + transfer; }
  disk_time& operator+=(disk_time const& other) noexcept {
    overhead += other.overhead;
    seek += other.seek;
    rotation += other.rotation;
    transfer += other.transfer;
    return *this;
  }
  friend bool operator==(disk_time const&, disk_time const&) = default;
};

/// When a request has ended, by the disk's clock, and what its time was made of.
struct disk_service {
  std::chrono::nanoseconds end{0};
  disk_time time;
};

/// How long the requests to one disk take; see the top of this file.
class disk_model {
 public:
  disk_model() = default;
  disk_model(disk_model const&) = delete;
  disk_model& operator=(disk_model const&) = delete;
  virtual ~disk_model() = default;

  virtual std::uint64_t capacity_bytes() const noexcept = 0;
  /// Takes the next request; returns when it has ended. Earlier ones go before it.
  virtual disk_service serve(disk_request const& asked) noexcept = 0;
};

}  // namespace outsize::io
