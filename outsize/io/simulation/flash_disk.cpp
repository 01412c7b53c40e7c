// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/simulation/flash_disk.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace outsize::io {

using std::chrono::nanoseconds;

flash_disk::flash_disk(flash_disk_options const& options)
    : options_(options), unit_free_(options.units) {
  if (options.units == 0 || options.bytes_per_second == 0)
    throw std::invalid_argument("a disk of flash needs units and a speed");
  if (std::min(options.read_latency, options.write_latency) < nanoseconds(0))
    throw std::invalid_argument("the latencies of a disk of flash must not be negative");
}

disk_service flash_disk::serve(disk_request const& asked) noexcept {
  auto const room = options_.capacity_bytes - std::min(options_.capacity_bytes, asked.offset_bytes);
  auto const length = static_cast<double>(std::min(asked.length_bytes, room));
  auto const rate = static_cast<double>(options_.bytes_per_second);
  bool const reads = asked.kind == operation::read;
  disk_time const spent{.overhead = reads ? options_.read_latency : options_.write_latency,
                        .transfer = nanoseconds(std::llround(length * 1e9 / rate))};
  auto const unit = std::ranges::min_element(unit_free_);
  auto const ready = std::max(*unit, asked.arrival) + spent.overhead;
  link_free_ = std::max(link_free_, ready) + spent.transfer;
  *unit = link_free_;
  return {link_free_, spent};
}

}  // namespace outsize::io
