// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort/codec_choice.hpp>

#include <algorithm>

namespace outsize::detail {

bool encoding_pays(codec_prospect const& p) noexcept {
  constexpr double most_share = 0.9;
  if (p.encoded_share > most_share) return false;
  if (p.disk_seconds == 0) return true;
  // Merging is yet to come; it was measured to take some two thirds of the time of sorting.
  double const merge_seconds = p.sort_seconds * 2 / 3;
  auto const phase = [&](double moved, double work) {
    return std::max(moved * p.disk_seconds, work / static_cast<double>(p.threads));
  };
  double const plain = phase(2, p.sort_seconds) + phase(2, merge_seconds);
  double const moved = 1 + p.encoded_share;
  double const encoded = phase(moved, p.sort_seconds + p.encoding_seconds) +
                         phase(moved, merge_seconds + p.encoding_seconds);
  return encoded < plain;
}

}  // namespace outsize::detail
