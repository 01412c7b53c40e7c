// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/processor.hpp>

#include <fmt/format.h>

namespace outsize::bsp {

void processor::refuse(detail::incoming const& message, std::size_t item_bytes) {
  mine_.drop(message);
  throw bsp_error(
      mine_.global_rank(),
      fmt::format("virtual processor {}: a message of {} bytes from {} cannot be items "
                  "of {} bytes",
                  mine_.global_rank(), message.length_bytes(), message.source, item_bytes));
}

}  // namespace outsize::bsp
