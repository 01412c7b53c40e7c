// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/run_history.hpp>

namespace outsize::bsp {

superstep_counts& superstep_counts::operator+=(superstep_counts const& more) noexcept {
  changed_bytes += more.changed_bytes;
  written_bytes += more.written_bytes;
  used_bytes += more.used_bytes;
  read_bytes += more.read_bytes;
  sent_bytes += more.sent_bytes;
  received_bytes += more.received_bytes;
  lent_bytes += more.lent_bytes;
  stored_bytes += more.stored_bytes;
  stored_written_bytes += more.stored_written_bytes;
  stored_read_bytes += more.stored_read_bytes;
  operations += more.operations;
  computing_ns += more.computing_ns;
  moving_ns += more.moving_ns;
  waiting_ns += more.waiting_ns;
  return *this;
}

superstep_counts run_history::of_processor(std::size_t rank) const noexcept {
  superstep_counts sum;
  for (superstep_counts const& one : processors[rank]) sum += one;
  return sum;
}

superstep_counts run_history::of_entry(std::size_t entry) const noexcept {
  superstep_counts sum;
  for (std::vector<superstep_counts> const& entries : processors) {
    if (entry < entries.size()) sum += entries[entry];
  }
  return sum;
}

superstep_counts run_history::total() const noexcept {
  superstep_counts sum;
  for (std::size_t rank = 0; rank < processors.size(); ++rank) sum += of_processor(rank);
  return sum;
}

}  // namespace outsize::bsp
