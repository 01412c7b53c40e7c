// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/detail/typed_ports.hpp>

#include <fmt/format.h>

#include <outsize/base/error.hpp>

namespace outsize::stream::detail {

bool put_item(boundary_writer<std::byte>& to, std::string_view item) {
  if (item.size() > UINT32_MAX)
    throw format_error(fmt::format("a byte string of {} bytes is too long", item.size()));
  auto const bytes = static_cast<std::uint32_t>(item.size());
  return to.push(std::as_bytes(std::span(&bytes, 1))) && to.push(std::as_bytes(std::span(item)));
}

}  // namespace outsize::stream::detail
