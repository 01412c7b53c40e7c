// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/option_rows.hpp>

#include <functional>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/units.hpp>

namespace outsize::tool {
namespace {

option valued_row(char letter, std::string name, std::string value, std::string help,
                  std::function<void(std::string_view)> handler) {
  return {.letter = letter,
          .name = std::move(name),
          .takes = argument::required,
          .value = std::move(value),
          .help = std::move(help),
          .handler = std::move(handler)};
}

option row_of_output(std::string help, std::function<void(std::string_view)> handler) {
  return valued_row('o', "output", "FILE", std::move(help), std::move(handler));
}

}  // namespace

option flag_row(char letter, std::string name, std::string help, bool& into) {
  return {
      .letter = letter, .name = std::move(name), .help = std::move(help), .handler = [&into](auto) {
        into = true;
      }};
}

option text_row(char letter, std::string name, std::string value, std::string help,
                std::string& into) {
  return valued_row(letter, std::move(name), std::move(value), std::move(help),
                    [&into](std::string_view text) { into = text; });
}

option text_row(char letter, std::string name, std::string value, std::string help,
                std::optional<std::string>& into) {
  return valued_row(letter, std::move(name), std::move(value), std::move(help),
                    [&into](std::string_view text) { into = text; });
}

option size_row(std::string name, std::string help, std::uint64_t& into) {
  return valued_row(0, std::move(name), "SIZE", std::move(help),
                    [&into](std::string_view text) { into = parse_bytes(text); });
}

option json_row(std::optional<std::string>& into) {
  return text_row(0, "json", "FILE", "write a report as one JSON object", into);
}

option output_row(std::string& into, bool& given, std::string help) {
  return row_of_output(std::move(help),
                       [&](std::string_view path) { set_output(path, into, given); });
}

option output_row(std::string& into, std::string help) {
  return row_of_output(std::move(help), [&into, given = false](std::string_view path) mutable {
    set_output(path, into, given);
  });
}

void set_output(std::string_view path, std::string& into, bool& given) {
  if (given && into != path)
    throw usage_error(fmt::format("more than one output: '{}' and '{}'", into, path));
  into = path;
  given = true;
}

}  // namespace outsize::tool
