// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/random_options.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include <outsize/base/error.hpp>

namespace outsize::tool {
namespace {

text::random_salt salt_from(std::string const& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) throw io_error(errno, "open", path);
  text::random_salt salt;
  errno = 0;
  std::size_t const count = std::fread(salt.bytes.data(), 1, salt.bytes.size(), file.get());
  if (std::ferror(file.get()) != 0) throw io_error(errno, "read", path);
  if (count == salt.bytes.size()) return salt;
  throw format_error(
      fmt::format("{}: {} random bytes are needed, there are {}", path, salt.bytes.size(), count));
}

}  // namespace

text::random_salt random_options::salt() const {
  if (source && seed) throw usage_error("options --random-source and --seed are incompatible");
  if (source) return salt_from(*source);
  return seed ? text::random_salt::of_seed(*seed) : text::random_salt::of_system();
}

std::vector<option> random_rows(random_options& into) {
  return {{.name = "random-source",
           .takes = argument::required,
           .value = "FILE",
           .help = "take chance from its first 16 bytes, to repeat it",
           .handler =
               [&into](std::string_view path) {
                 if (into.source.value_or(std::string(path)) != path)
                   throw usage_error(fmt::format("more than one random source: '{}' and '{}'",
                                                 *into.source, path));
                 into.source = path;
               }},
          {.name = "seed",
           .takes = argument::required,
           .value = "NUMBER",
           .help = "take chance from a number, to repeat it",
           .handler = [&into](std::string_view text) { into.seed = parse_count(text, "seed"); }}};
}

}  // namespace outsize::tool
