// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/coding_trial.hpp>

namespace outsize::detail {

coding_trial try_coding(byte_coding coding, std::span<std::byte> content, block_layout layout,
                        std::span<std::byte> scratch) {
  if (content.empty()) return {};
  auto const bytes = static_cast<double>(content.size());
  std::size_t used = 0;
  auto const times = time_twice(
      [&] {
        return used = encode_block(coding, content, layout, scratch,
                                   content.size() + scratch.size(), 1);
      },
      [&](std::size_t code_bytes) {
        return decode_block(scratch.first(code_bytes), content, layout);
      });
  double const share = used == 0 ? 1 : static_cast<double>(used) / bytes;
  return {share, times.encoding / bytes, times.decoding / bytes};
}

}  // namespace outsize::detail
