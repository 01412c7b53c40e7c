// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Whether it pays to encode a run: fewer bytes for the disk, more work for the processors.
//
// While runs are formed the input is read, sorted and written; in the merge runs are read, merged
// and written as output. In both, disk and processors work side by side, so each takes as long as
// the slower of the two. Where the processors are, encoding saves nothing and costs its time. A
// pure function. Layer: algorithm.

#include <cstddef>

namespace outsize::detail {

/// What is known while runs are formed; times are for one byte of items.
struct codec_prospect {
  double encoded_share = 1;     ///< Bytes that encoding leaves of one.
  double disk_seconds = 0;      ///< To move a byte once; 0: not measured yet.
  double sort_seconds = 0;      ///< Of one thread.
  double encoding_seconds = 0;  ///< Of one thread; decoding takes about as long. 0: not measured.
  std::size_t threads = 1;
};

/// Not before a tenth of the bytes is saved; and yes as long as nothing has been measured.
bool encoding_pays(codec_prospect const& prospect) noexcept;

}  // namespace outsize::detail
