// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Failures of runs of virtual processors. Values, which any thread may throw. Layer: bsp.

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace outsize::bsp {

/// A virtual processor failed, or all of them wait for one another. The message names the
/// processor; its own exception is nested.
class bsp_error : public std::runtime_error, public std::nested_exception {
 public:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  /// Nests the exception being handled, if there is one.
  bsp_error(std::uint32_t rank, std::string const& message)
      : std::runtime_error(message), rank_(rank) {}

  /// The processor that failed first, or `nobody`.
  std::uint32_t rank() const noexcept { return rank_; }

 private:
  std::uint32_t rank_;
};

}  // namespace outsize::bsp
