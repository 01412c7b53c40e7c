// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/record/detail/cut_short.hpp>

#include <fmt/format.h>

#include <outsize/base/error.hpp>

namespace outsize::detail {

void throw_cut_short(std::string const& name, std::uint64_t bytes, std::size_t item_bytes) {
  throw format_error(fmt::format("{}: the last record is cut short: {} bytes are no multiple of {}",
                                 name, bytes, item_bytes));
}

}  // namespace outsize::detail
