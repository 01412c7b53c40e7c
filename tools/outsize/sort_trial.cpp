// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The three steps, each a command of the tool in a process of its own.
#include <tools/outsize/sort_trial.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/io/disk_file.hpp>
#include <tools/outsize/child_command.hpp>
#include <tools/outsize/command.hpp>

namespace outsize::tool {
namespace {

using words = std::vector<std::string>;

struct trial_kind {
  std::string_view name;
  std::uint64_t item_bytes;  // of lines: their mean
  words format;              // options of sort and check
};

std::array<trial_kind, 3> const kinds{{
    {"u64", 8, {"--format", "u64"}},
    {"records", 100, {"--format", "bytes:100", "--key", "0:10"}},
    {"lines", 110, {}},
}};

trial_kind const& find_kind(std::string_view name) {
  for (auto const& kind : kinds) {
    if (kind.name == name) return kind;
  }
  throw std::invalid_argument(fmt::format("kind '{}' is none of u64, records, lines", name));
}

/// A new folder, removed with what is in it.
class scratch_folder {
 public:
  explicit scratch_folder(std::string const& parent) : path_(parent + "/outsize-bench-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw io_error(errno, "create a folder in", parent);
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }
  std::string const& path() const { return path_; }

 private:
  std::string path_;
};

/// Returns the exit code, which is at most `worst`.
int run_step(child_commands& commands, words arguments, words const& more, int worst) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  int const code = commands.run(arguments);
  if (code <= worst) return code;
  throw std::runtime_error(fmt::format("'outsize {}' ended with {}", arguments.front(), code));
}

}  // namespace

sort_trial_report run_sort_trial(sort_trial_options const& options) {
  auto const& kind = find_kind(options.kind);
  auto const free_bytes = io::free_space_bytes(options.directory);
  if (free_bytes / 3 < options.size_bytes) {
    throw out_of_space(options.directory, free_bytes, 3 * options.size_bytes);
  }
  child_commands commands;  // before the folder, which must go when a signal comes
  scratch_folder const folder(options.directory);
  auto const input = folder.file("input"), output = folder.file("output"),
             json = folder.file("report.json");

  auto const count = std::max<std::uint64_t>(1, options.size_bytes / kind.item_bytes);
  run_step(commands,
           {"gen", options.kind, "--count", std::to_string(count), "--seed", "1", "-o", input}, {},
           exit_done);
  words sort{"sort", "-S", fmt::format("{}b", options.memory_bytes), "-T", folder.path()};
  if (options.threads != 0)
    sort.insert(sort.end(), {"--parallel", std::to_string(options.threads)});
  sort.insert(sort.end(), {"--json", json, "-o", output, input});
  run_step(commands, sort, kind.format, exit_done);
  int const checked =
      run_step(commands, {"check", output, "--against", input}, kind.format, exit_no);

  commands.check();
  std::ifstream report(json);
  return {.is_verified = checked == exit_done, .sort = nlohmann::json::parse(report)};
}

}  // namespace outsize::tool
