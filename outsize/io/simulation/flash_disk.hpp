// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A disk of flash memory: a latency for each request, several requests at once, and a link that
// their bytes share.
//
// A request takes the unit that is free first, waits its latency, and then moves its bytes over the
// link, one request after another. Offsets do not matter. Not modelled: erasing, a cache for
// writes, units that two requests need at once. Thread rule as disk_model's. Layer: io.

#include <chrono>
#include <cstdint>
#include <vector>

#include <outsize/io/simulation/disk_model.hpp>

namespace outsize::io {

/// What a disk of flash is built of. The defaults are round numbers of a fast one of the 2020s.
struct flash_disk_options {
  std::uint64_t capacity_bytes = 2'000'000'000'000;
  std::uint64_t bytes_per_second = 3'000'000'000;  ///< Of the link.
  std::chrono::nanoseconds read_latency{80'000};
  std::chrono::nanoseconds write_latency{20'000};
  std::uint32_t units = 32;  ///< Requests whose latencies overlap.
};

/// A disk without an arm; see the top of this file.
class flash_disk final : public disk_model {
 public:
  /// @throws std::invalid_argument if it has no units or no speed, or negative latencies.
  explicit flash_disk(flash_disk_options const& options = {});

  std::uint64_t capacity_bytes() const noexcept override { return options_.capacity_bytes; }
  disk_service serve(disk_request const& asked) noexcept override;

 private:
  flash_disk_options const options_;
  std::vector<std::chrono::nanoseconds> unit_free_;
  std::chrono::nanoseconds link_free_{0};
};

}  // namespace outsize::io
