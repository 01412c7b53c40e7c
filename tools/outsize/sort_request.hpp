// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the command line of `outsize sort` asks for. Layer: tools. Plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tools/outsize/key_options.hpp>

namespace outsize::tool {

struct sort_request {
  enum class action : std::uint8_t { sort, merge, check, check_silently };
  action what = action::sort;
  key_options keys;
  std::vector<std::string> inputs;            ///< Never empty; "-" is standard input.
  std::string output = "-";                   ///< -o
  bool has_output = false;                    ///< Whether there was an -o, be it "-".
  std::optional<std::uint64_t> memory_bytes;  ///< -S
  std::string memory_text;                    ///< As it was written, for messages.
  std::vector<std::string> directories;       ///< -T
  std::optional<std::size_t> threads;         ///< --parallel
  bool plan = false;
  std::optional<bool> progress;  ///< --progress, --no-progress; default: on a terminal
  std::optional<std::string> json;
};

/// Reads the arguments; nothing if only help was asked for.
/// @throws usage_error, std::invalid_argument naming the argument that cannot be used.
std::optional<sort_request> read_sort_request(int argc, char** argv);

}  // namespace outsize::tool
