// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/passes.hpp>

namespace outsize::numeric {

std::function<void(pipeline::network_progress const&)> progress_of_pass(
    pass_listener const& listener, std::size_t index, std::size_t passes,
    std::uint64_t pass_bytes) {
  if (!listener) return {};
  return [&listener, index, passes, pass_bytes](pipeline::network_progress const& now) {
    listener({index + 1, passes, index * pass_bytes + now.bytes, passes * pass_bytes});
  };
}

}  // namespace outsize::numeric
