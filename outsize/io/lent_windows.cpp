// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/lent_windows.hpp>

#include <algorithm>
#include <cstring>

namespace outsize::io {

lent_windows::lent_windows(output_stream& out, std::span<std::byte> memory)
    : out_(out), memory_(memory), lead_(out.lead_bytes()), used_(lead_) {}

lent_windows::~lent_windows() {
  try {
    out_.wait(memory_);
  } catch (...) {
    // Whatever was wrong: who wanted to know has committed the stream.
  }
}

void lent_windows::put(std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const place = room(1);
    auto const some = bytes.first(std::min(bytes.size(), place.size()));
    std::memcpy(place.data(), some.data(), some.size());
    used_ += some.size();
    bytes = bytes.subspan(some.size());
  }
}

void lent_windows::hand_over() {
  if (used_ > lead_) out_.write(window().subspan(lead_, used_ - lead_));
  current_ ^= 1;
  out_.wait(window());
  lead_ = used_ = out_.lead_bytes();
}

}  // namespace outsize::io
