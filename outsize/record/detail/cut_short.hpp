// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Inputs that end within a record of fixed length. Pure functions. Layer: record.

#include <cstddef>
#include <cstdint>
#include <string>

namespace outsize::detail {

/// Throws a format_error that names the input `name`, its size `bytes`, and the bytes of a record.
[[noreturn]] void throw_cut_short(std::string const& name, std::uint64_t bytes,
                                  std::size_t item_bytes);

}  // namespace outsize::detail
