// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/codec_choice.hpp>

#include <algorithm>

namespace outsize::detail {

double encoding_gain(codec_prospect const& p) noexcept {
  constexpr double most_share = 0.9;
  if (p.encoded_share > most_share) return 0;
  if (p.disk_seconds == 0) return 1 - p.encoded_share;
  // Merging is yet to come; it was measured to take some two thirds of the time of sorting.
  double const merge_seconds = p.sort_seconds * 2 / 3;
  auto const phase = [&](double moved, double work) {
    double const disk = moved * p.disk_seconds, processors = work / static_cast<double>(p.threads);
    // Neither works all the time that the other does: sorts took about this long.
    return std::max(disk, processors) + std::min(disk, processors) / 4;
  };
  double const plain_moved = 1 + p.plain_share;
  double const plain = phase(plain_moved, p.sort_seconds) + phase(plain_moved, merge_seconds);
  double const moved = 1 + p.plain_share * p.encoded_share;
  return plain - phase(moved, p.sort_seconds + p.plain_share * p.encoding_seconds) -
         phase(moved, merge_seconds + p.plain_share * p.decoding_seconds);
}

}  // namespace outsize::detail
