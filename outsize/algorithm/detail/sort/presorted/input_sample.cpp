// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/presorted/input_sample.hpp>

#include <outsize/base/units.hpp>

namespace outsize::detail {

input_sample::input_sample(io::file& from, std::uint64_t file_bytes, std::size_t piece_bytes,
                           std::size_t unit_bytes, memory_budget& budget)
    : piece_bytes_(piece_bytes),
      memory_(budget.take(round_up(places * piece_bytes, page_bytes()), "sort: sample")),
      all_(memory_.allocate(places * piece_bytes)) {
  std::vector<io::request_ptr> reads;
  reads.reserve(places);
  auto const wait = [&] {  // for all, before the memory may go
    for (io::request_ptr const& r : reads) r->wait_outcome();
  };
  try {
    for (auto const piece : pieces()) {
      std::uint64_t const at = (file_bytes - piece_bytes) * reads.size() / (places - 1);
      reads.push_back(from.read(round_down(at, std::uint64_t{unit_bytes}), piece));
    }
  } catch (...) {
    wait();
    throw;
  }
  wait();
  for (io::request_ptr const& r : reads) is_complete_ = r->wait() == piece_bytes && is_complete_;
}

std::vector<std::span<std::byte>> input_sample::pieces() const {
  std::vector<std::span<std::byte>> all;
  for (std::size_t p = 0; p < places; ++p)
    all.push_back(all_.bytes().subspan(p * piece_bytes_, piece_bytes_));
  return all;
}

}  // namespace outsize::detail
