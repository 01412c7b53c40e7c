// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/error.hpp>

#include <fmt/format.h>
#include <cerrno>
#include <utility>

#include <outsize/base/units.hpp>

namespace outsize {
namespace {

std::string describe(int error_number, std::string const& operation, std::string const& path,
                     std::uint64_t offset_bytes, std::size_t length_bytes) {
  auto const reason = error_number == EOWNERDEAD
                          ? std::string("it was made by another process (before a fork)")
                          : std::generic_category().message(error_number);
  if (length_bytes == 0) return fmt::format("{}: cannot {}: {}", path, operation, reason);
  return fmt::format("{}: cannot {} {} bytes at offset {}: {}", path, operation, length_bytes,
                     offset_bytes, reason);
}

}  // namespace

io_error::io_error(int error_number, std::string operation, std::string path,
                   std::uint64_t offset_bytes, std::size_t length_bytes)
    : std::system_error(error_number, std::generic_category()),
      operation_(std::move(operation)),
      path_(std::move(path)),
      offset_bytes_(offset_bytes),
      length_bytes_(length_bytes),
      message_(describe(error_number, operation_, path_, offset_bytes_, length_bytes_)) {}

bool io_error::is_full() const noexcept {
  int const number = code().value();
  return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

out_of_space::out_of_space(std::string disk, std::uint64_t free_bytes, std::uint64_t needed_bytes)
    : io_error(ENOSPC, "allocate", std::move(disk), 0, 0),
      free_bytes_(free_bytes),
      needed_bytes_(needed_bytes),
      message_(free_bytes < needed_bytes
                   ? fmt::format("{}: no space left: have {}, need {}", path(),
                                 format_bytes(free_bytes), format_bytes(needed_bytes))
                   : fmt::format("{}: no space left for {}", path(), format_bytes(needed_bytes))) {}

changed_file::changed_file(std::string path, std::string_view how)
    : io_error(ESTALE, "read", std::move(path)),
      message_(fmt::format("{}: {}", io_error::path(), how)) {}

corrupt_block::corrupt_block(std::string disk, std::uint64_t offset_bytes, std::size_t length_bytes,
                             std::string_view how)
    : io_error(EBADMSG, "read", std::move(disk), offset_bytes, length_bytes),
      message_(
          fmt::format("{}: the block of {} bytes at offset {} is not what was written there: {}",
                      path(), length_bytes, offset_bytes, how)) {}

budget_error::budget_error(std::string asker, std::uint64_t have_bytes, std::uint64_t need_bytes)
    : budget_error(asker, have_bytes, need_bytes,
                   fmt::format("{}: the memory budget has {} left, {} needed", asker,
                               format_bytes(have_bytes), format_bytes(need_bytes))) {}

budget_error::budget_error(std::string asker, std::uint64_t have_bytes, std::uint64_t need_bytes,
                           std::string const& message)
    : std::runtime_error(message),
      asker_(std::move(asker)),
      have_bytes_(have_bytes),
      need_bytes_(need_bytes) {}

}  // namespace outsize
