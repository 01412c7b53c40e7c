// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory whose content has just gone to a device, before it is filled anew.
//
// Whoever moved it (on virtual machines a thread of the host) may still share its cache lines, and
// the first store to each then waits for the other to give it up: 1.6 ms for a MiB were measured
// instead of 0.2 ms. Stores past the caches take whole lines without asking for what they hold:
// 0.04 ms for a MiB (docs/decisions/0027-memory-that-went-to-a-device.md). Layer: base.

#include <cstddef>
#include <span>

namespace outsize::detail {

/// Fills memory with zeros past the processor's caches, so that what is stored there next does not
/// wait. For buffers that will be filled item by item; not for what is read again soon. Any length
/// and alignment.
void zero_past_caches(std::span<std::byte> memory) noexcept;

}  // namespace outsize::detail
