// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Whether it pays to encode a run: fewer bytes for the disk, more work for the processors.
//
// While runs are formed the input is read, sorted and written; in the merge runs are read, merged
// and written as output. In both, disk and processors work side by side, so each takes little
// longer than the slower of the two. Where the processors are, encoding saves little and costs its
// time. A pure function. Layer: algorithm.

#include <cstddef>

namespace outsize::detail {

/// What is known while runs are formed.
struct codec_prospect {
  double plain_share = 1;       ///< Bytes of a plain run for one of items; repetitions take none.
  double encoded_share = 1;     ///< Bytes that encoding leaves of one of a plain run.
  double disk_seconds = 0;      ///< To move a byte once; 0: not measured yet.
  double sort_seconds = 0;      ///< Of one thread, for a byte of items.
  double encoding_seconds = 0;  ///< Of one thread, for a byte of a plain run; 0: not measured.
  double decoding_seconds = 0;  ///< Likewise.
  std::size_t threads = 1;
};

/// The seconds that encoding saves for each byte of items; 0 or less, and that is before it saves a
/// tenth of the bytes: leave it. As long as no disk has been measured: the share of the bytes.
double encoding_gain(codec_prospect const& prospect) noexcept;

}  // namespace outsize::detail
