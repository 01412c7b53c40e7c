// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort/coding_trial.hpp>

#include <chrono>

#include <outsize/base/machine.hpp>

namespace outsize::detail {

coding_trial try_coding(byte_coding coding, std::span<std::byte> content, block_layout layout,
                        std::span<std::byte> scratch) {
  if (content.empty()) return {};
  auto const bytes = static_cast<double>(content.size());
  auto const of_each = [&](std::chrono::nanoseconds all) {
    return std::chrono::duration<double>(all).count() / bytes;
  };
  auto const begin = thread_processor_time();
  std::size_t const used =
      encode_block(coding, content, layout, scratch, content.size() + scratch.size(), 1);
  auto const encoded = thread_processor_time();
  if (used == 0) return {.encoding_seconds = of_each(encoded - begin)};
  if (!decode_block(scratch.first(used), content, layout)) return {};
  return {.encoded_share = static_cast<double>(used) / bytes,
          .encoding_seconds = of_each(encoded - begin),
          .decoding_seconds = of_each(thread_processor_time() - encoded)};
}

}  // namespace outsize::detail
