// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What programs that go over their data in several passes, each a network, share. Layer: numeric.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <outsize/pipeline/network.hpp>

namespace outsize::numeric {

/// How far a program of several passes has come.
struct pass_progress {
  std::size_t pass = 0;  ///< From 1 on.
  std::size_t passes = 0;
  std::uint64_t done_bytes = 0;   ///< Written so far, over all passes.
  std::uint64_t total_bytes = 0;  ///< To be written over all passes.
};

/// Called from a thread of its own, about five times a second, and at the end of each pass.
using pass_listener = std::function<void(pass_progress const&)>;

/// Tells `listener` of the whole program what the network of pass `index` (from 0 on) tells; each
/// pass writes `pass_bytes`. Nothing if there is no listener, which must outlive the network.
std::function<void(pipeline::network_progress const&)> progress_of_pass(
    pass_listener const& listener, std::size_t index, std::size_t passes, std::uint64_t pass_bytes);

}  // namespace outsize::numeric
