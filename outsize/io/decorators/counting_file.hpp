// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Counts what is asked of a file, so that a test can hold an algorithm to its bound.
//
// The counts go to an io_tally, which several files may share (the disks of a storage) and which
// outlives them. Every function may be called from any thread. Layer: io.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <outsize/io/decorators/file_decorator.hpp>

namespace outsize::io {

/// Requests, their bytes, and the attempts that they took, of one kind. Cancelled requests stay
/// counted.
struct io_count {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t attempts = 0;
  friend bool operator==(io_count const&, io_count const&) = default;
};

/// One request, as the log keeps it.
struct logged_request {
  operation kind;
  std::uint64_t offset_bytes;
  std::size_t length_bytes;
  friend bool operator==(logged_request const&, logged_request const&) = default;
};

/// The counts of one or more files, and on demand a log of their requests.
class io_tally {
 public:
  io_count reads() const { return count(operation::read); }
  io_count writes() const { return count(operation::write); }

  /// Starts or stops the log of requests; starting empties it.
  void keep_log(bool on);
  /// In the order in which the requests began.
  std::vector<logged_request> log() const;

  /// Of counting_file: an attempt begins.
  void add(attempt const& work);

 private:
  io_count count(operation kind) const;

  mutable std::mutex mutex_;
  io_count reads_;
  io_count writes_;
  bool logging_ = false;
  std::vector<logged_request> log_;
};

/// A file that adds each request to a tally and passes it on.
class counting_file final : public file_decorator {
 public:
  explicit counting_file(file_ptr inner,
                         std::shared_ptr<io_tally> tally = std::make_shared<io_tally>());
  ~counting_file() override { drain(); }

  io_tally& tally() const noexcept { return *tally_; }

  void start(attempt work) noexcept override;

 private:
  std::shared_ptr<io_tally> tally_;
};

}  // namespace outsize::io
