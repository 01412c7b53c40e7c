// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Files of the groups: cgroups(7), and Control Group v2 and v1 in the kernel's documentation.
#include <outsize/base/detail/control_groups.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  char const* const last = text.data() + text.size();
  auto const [end, status] = std::from_chars(text.data(), last, value);
  return end == last && status == std::errc{} && !text.empty() ? std::optional(value)
                                                               : std::nullopt;
}

/// The first words of a file; empty where there are none.
std::vector<std::string> words_of(fs::path const& file, std::size_t count) {
  std::ifstream in(file);
  std::vector<std::string> words(count);
  for (std::string& word : words) in >> word;
  return words;
}

void limit_memory(control_group_limits& limits, fs::path const& file) {
  if (auto const bytes = number(words_of(file, 1)[0]))
    limits.memory_bytes = std::min(limits.memory_bytes, *bytes);
}

/// By a quota of processor time for each period.
void limit_threads(control_group_limits& limits, std::string const& quota,
                   std::string const& period) {
  auto const quota_us = number(quota);
  auto const period_us = number(period);
  if (quota_us.value_or(0) == 0 || period_us.value_or(0) == 0) return;
  limits.threads =
      std::min<std::size_t>(limits.threads, div_up<std::uint64_t>(*quota_us, *period_us));
}

void limit_tasks(control_group_limits& limits, fs::path const& group) {
  auto const most = number(words_of(group / "pids.max", 1)[0]);
  auto const used = number(words_of(group / "pids.current", 1)[0]);
  if (!most || !used) return;
  task_limit const here{*most, *used};
  if (here.left() < limits.tasks.left()) limits.tasks = here;
}

/// A group and those around it, as directories below `root`. Inside of a namespace the group may
/// have a name that does not exist there; then those around it are what there is.
template <typename Visit>
void for_each_group(fs::path const& root, std::string const& group, Visit const& visit) {
  fs::path path = fs::path(group).lexically_normal().relative_path();
  for (;; path = path.parent_path()) {
    visit(root / path);
    if (path.empty()) return;
  }
}

}  // namespace

control_group_limits read_control_group_limits(fs::path const& groups, fs::path const& membership) {
  control_group_limits limits;
  auto const limit_all = [&](fs::path const& group) {
    limit_memory(limits, group / "memory.max");
    auto const cpu = words_of(group / "cpu.max", 2);
    limit_threads(limits, cpu[0], cpu[1]);
    limit_tasks(limits, group);
  };
  auto const limit_memory_v1 = [&](fs::path const& group) {
    limit_memory(limits, group / "memory.limit_in_bytes");
  };
  auto const limit_threads_v1 = [&](fs::path const& group) {
    limit_threads(limits, words_of(group / "cpu.cfs_quota_us", 1)[0],
                  words_of(group / "cpu.cfs_period_us", 1)[0]);
  };
  auto const limit_tasks_v1 = [&](fs::path const& group) { limit_tasks(limits, group); };
  // Whether or not it is known which groups the process is in.
  limit_all(groups);
  limit_memory_v1(groups / "memory");
  limit_threads_v1(groups / "cpu");
  limit_tasks_v1(groups / "pids");

  std::ifstream in(membership);
  for (std::string line; std::getline(in, line);) {  // hierarchy:controllers:group
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    std::string const controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    std::string const group = line.substr(second + 1);
    if (controllers == ",,") for_each_group(groups, group, limit_all);
    if (controllers.find(",memory,") != controllers.npos)
      for_each_group(groups / "memory", group, limit_memory_v1);
    if (controllers.find(",cpu,") != controllers.npos)
      for_each_group(groups / "cpu", group, limit_threads_v1);
    if (controllers.find(",pids,") != controllers.npos)
      for_each_group(groups / "pids", group, limit_tasks_v1);
  }
  return limits;
}

}  // namespace outsize::detail
