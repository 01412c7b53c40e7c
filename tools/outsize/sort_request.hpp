// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the command line of `outsize sort` asks for. Layer: tools. Plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {

struct sort_request : work_options {
  enum class action : std::uint8_t { sort, merge, check, check_silently };
  action what = action::sort;
  key_options keys;
  compression_options codecs;
  std::vector<std::string> inputs;  ///< Never empty; "-" is standard input.
  std::string output = "-";         ///< -o
  bool has_output = false;          ///< Whether there was an -o, be it "-".
  bool plan = false;
};

/// Reads the arguments; nothing if only help was asked for.
/// @throws usage_error, std::invalid_argument naming the argument that cannot be used.
std::optional<sort_request> read_sort_request(int argc, char** argv);

}  // namespace outsize::tool
