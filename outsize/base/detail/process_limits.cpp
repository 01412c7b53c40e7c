// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Files of processes: proc_pid_status(5), namespaces(7). The exemptions are those of clone(2),
// EAGAIN, and of the kernel's kernel/fork.c.
#include <outsize/base/detail/process_limits.hpp>

#include <cctype>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace outsize::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_user_namespace = "user:[4026531837]";  // the number is fixed
constexpr std::uint64_t exempting = std::uint64_t{1} << 21 | std::uint64_t{1} << 24;

struct task_status {
  bool is_known = false;
  std::uint64_t user = 0;  // the real one
  std::uint64_t capabilities = 0;
  std::uint64_t threads = 0;
};

task_status read_status(fs::path const& process) {
  task_status status;
  std::ifstream in(process / "status");
  for (std::string name; in >> name;) {
    if (name == "Uid:") {
      in >> status.user;
      status.is_known = !in.fail();
    } else if (name == "Threads:") {
      in >> status.threads;
    } else if (name == "CapEff:") {
      in >> std::hex >> status.capabilities >> std::dec;
    }
    in.clear();
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return status;
}

std::string user_namespace_of(fs::path const& process) {
  std::error_code hidden;
  return fs::read_symlink(process / "ns" / "user", hidden).string();
}

bool is_exempt(task_status const& self, std::string_view user_namespace) {
  return user_namespace == first_user_namespace &&
         (self.user == 0 || (self.capabilities & exempting) != 0);
}

bool is_process(fs::path const& entry) {
  return std::isdigit(static_cast<unsigned char>(entry.filename().string().front())) != 0;
}

}  // namespace

task_limit read_user_task_limit(std::uint64_t most, fs::path const& proc) {
  if (most == task_limit{}.most) return {};
  task_status const self = read_status(proc / "self");
  std::string const mine = user_namespace_of(proc / "self");
  if (!self.is_known || mine.empty() || is_exempt(self, mine)) return {};
  task_limit limit{.most = most};
  std::error_code failed;
  for (fs::directory_iterator at(proc, failed), end; !failed && at != end; at.increment(failed)) {
    if (!is_process(at->path())) continue;
    task_status const other = read_status(at->path());
    if (!other.is_known || other.user != self.user) continue;
    if (user_namespace_of(at->path()) == mine) limit.used += other.threads;
  }
  return limit;
}

}  // namespace outsize::detail
