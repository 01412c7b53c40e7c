// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Files of processes: proc_pid_stat(5), proc_pid_status(5), proc_pid_smaps(5).
#include <outsize/bsp/process/memory_census.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <outsize/base/units.hpp>

namespace outsize::bsp::process {

namespace {

namespace fs = std::filesystem;

std::optional<pid_t> pid_of(fs::path const& entry) {
  std::string const name = entry.filename().string();
  pid_t pid = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc{} && end == name.data() + name.size() ? std::optional(pid)
                                                                  : std::nullopt;
}

/// The parent; 0 if the process has ended. The name before it may hold any character.
pid_t parent_of(fs::path const& process) {
  std::ifstream in(process / "stat");
  std::string const text(std::istreambuf_iterator<char>(in), {});
  std::size_t const name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + name_end + 4, text.data() + text.size(), parent);  // ") S 123"
  return parent;
}

/// Adds the sizes of a file with lines "Name:   12 kB", as far as their names are asked for.
void add_sizes(fs::path const& file, std::map<std::string_view, std::uint64_t*> const& to) {
  std::ifstream in(file);
  for (std::string name; in >> name;) {
    auto const found = to.find(name);
    std::uint64_t kib = 0;
    if (found != to.end() && in >> kib) *found->second += kib * 1_KiB;
    in.clear();
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
}

}  // namespace

std::vector<pid_t> processes_below(pid_t first, fs::path const& proc) {
  std::multimap<pid_t, pid_t> children;
  std::error_code failed;
  for (fs::directory_iterator at(proc, failed), end; !failed && at != end; at.increment(failed)) {
    if (auto const pid = pid_of(at->path())) children.emplace(parent_of(at->path()), *pid);
  }
  std::vector<pid_t> all{first};
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const [begin, end] = children.equal_range(all[i]);
    for (auto child = begin; child != end; ++child) all.push_back(child->second);
  }
  return all;
}

memory_use measure_memory(std::vector<pid_t> const& processes, std::uint64_t memory_file_bytes,
                          fs::path const& proc) {
  std::uint64_t all = 0, shared = 0, tables = 0;
  for (pid_t const pid : processes) {
    fs::path const process = proc / std::to_string(pid);
    add_sizes(process / "smaps_rollup", {{"Pss:", &all}, {"Pss_Shmem:", &shared}});
    add_sizes(process / "status", {{"VmPTE:", &tables}});
  }
  // Pages of memory files that no process has mapped are in memory nevertheless.
  return {.shared_bytes = std::max(shared, memory_file_bytes),
          .process_bytes = all - std::min(all, shared),
          .page_table_bytes = tables};
}

}  // namespace outsize::bsp::process
