// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The request queue on io_uring: one ring of fixed depth and one thread that takes completions from
// it.
//
//   start() ─► pending_ ─► slots_, ring ─► kernel ─► reap() ─► attempt_ended()
//              waits for room    ▲                     │
//                                └───── refills ───────┘
//
// Whoever adds to pending_ also submits: as many attempts as there is room for, with one call of
// the system. The completion thread takes all completions there are, fills the freed slots from
// pending_, again with one call, and only then reports the results, so that the disk is busy while
// callbacks run.
//
// Of long attempts a few keep a disk busy, and many make it slower; of short ones it wants many at
// once. So eight that are no longer than 64 KiB take the room of a long one.
//
// Invariant: attempts in the kernel have a slot each, so that neither ring can overflow. The
// submission side and the slots are used under mutex_, the completion side by one thread only.
// Layer: io.

#include <cstddef>
#include <memory>

#include <outsize/io/request_queue.hpp>

namespace outsize::io {

/// Makes a queue for `depth` long attempts. Defined only if outsize::has_uring (base/config.hpp);
/// make_request_queue is the way in.
/// @throws io_error if the kernel refuses a ring (ENOSYS, EPERM, ENOMEM) or lacks reads and writes
/// in it.
std::unique_ptr<request_queue> make_uring_queue(std::size_t depth);

}  // namespace outsize::io
