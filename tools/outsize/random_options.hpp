// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Where a command takes chance from: --random-source, --seed, or the system. Layer: tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <outsize/text/random_salt.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {

struct random_options {
  std::optional<std::string> source = {};  ///< --random-source
  std::optional<std::uint64_t> seed = {};  ///< --seed

  /// The first sixteen bytes of the source, or what the seed gives, or something new.
  /// @throws usage_error if both are given; io_error if the source cannot be read; format_error
  /// naming it if it is too short.
  text::random_salt salt() const;
};

/// The rows of both options. `into` must outlive the table.
std::vector<option> random_rows(random_options& into);

}  // namespace outsize::tool
