// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/input_names.hpp>

#include <fmt/format.h>

#include <tools/outsize/record_scan.hpp>

namespace outsize::tool {
namespace {

/// The names in a list, each ended by NUL.
std::vector<std::string> read_names(std::string const& list) {
  std::vector<std::string> names;
  auto scan = record_scan::of_lines(list, '\0');
  while (scan.next()) {
    names.emplace_back(scan.current());
    if (names.back().empty())
      throw usage_error(fmt::format("{}:{}: a file name is empty", list, scan.count()));
    if (names.back() == "-" && list == "-")
      throw usage_error(fmt::format("{}:{}: the list is standard input, which it cannot name", list,
                                    scan.count()));
  }
  if (names.empty()) throw usage_error(fmt::format("{}: no file names in it", list));
  return names;
}

}  // namespace

option files0_row(std::optional<std::string>& list) {
  return {.name = "files0-from",
          .takes = argument::required,
          .value = "FILE",
          .help = "the inputs are those named in it, each name ended by NUL",
          .handler = [&list](std::string_view path) { list = path; }};
}

std::vector<std::string> all_inputs(std::vector<std::string> operands,
                                    std::optional<std::string> const& list) {
  if (list) {
    if (!operands.empty())
      throw usage_error(
          fmt::format("extra operand '{}': --files0-from names all inputs", operands.front()));
    return read_names(*list);
  }
  if (operands.empty()) operands.emplace_back("-");
  return operands;
}

}  // namespace outsize::tool
