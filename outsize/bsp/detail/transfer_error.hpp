// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The exception for a request of a block that failed. Any thread. Layer: bsp.

#include <cerrno>
#include <exception>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/io/request.hpp>

namespace outsize::bsp::detail {

/// corrupt_block where the storage says that a checksum does not fit, io_error else.
inline std::exception_ptr transfer_error(std::string const& disk, io::request const& request,
                                         io::outcome const& how) {
  if (how.error_number == EBADMSG) {
    return std::make_exception_ptr(
        corrupt_block(disk, request.offset_bytes(), request.length_bytes()));
  }
  char const* const operation = request.kind() == io::operation::write ? "write" : "read";
  return std::make_exception_ptr(
      io_error(how.error_number, operation, disk, request.offset_bytes(), request.length_bytes()));
}

}  // namespace outsize::bsp::detail
