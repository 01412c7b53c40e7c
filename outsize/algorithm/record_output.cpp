// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/record_output.hpp>

#include <algorithm>
#include <cstring>

#include <outsize/base/error.hpp>

namespace outsize::detail {

record_output::record_output(io::output_stream& out, grant& memory, std::size_t window_bytes,
                             item_framing framing)
    : out_(out),
      framing_(framing),
      window_bytes_(window_bytes),
      windows_(memory.allocate(2 * window_bytes)) {
  begin_window();
}

record_output::~record_output() {
  try {
    out_.wait(windows_.bytes());
  } catch (io_error const&) {
    // Who wanted to know has called finish().
  }
}

void record_output::finish() {
  hand_over();
  out_.commit();
}

void record_output::put(std::string_view bytes) {
  while (!bytes.empty()) {
    if (used_ == window().size()) next_window();
    std::size_t const count = std::min(bytes.size(), window().size() - used_);
    std::memcpy(window().data() + used_, bytes.data(), count);
    used_ += count;
    bytes.remove_prefix(count);
  }
}

void record_output::next_window() {
  hand_over();
  current_ ^= 1;
  out_.wait(window());
  begin_window();
}

void record_output::hand_over() {
  if (used_ > lead_) out_.write(window().subspan(lead_, used_ - lead_));
  lead_ = used_;
}

}  // namespace outsize::detail
