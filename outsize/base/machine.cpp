// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/machine.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <limits>
#include <thread>

#include <outsize/base/detail/control_groups.hpp>
#include <outsize/base/detail/process_limits.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize {
namespace {

std::uint64_t limit_of(__rlimit_resource_t resource) noexcept {
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  rlimit limit{};
  return ::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? none
                                                                               : limit.rlim_cur;
}

/// What the kernel counts against RLIMIT_AS and RLIMIT_DATA; nothing where it does not say.
struct mapped_bytes {
  std::uint64_t all = 0;
  std::uint64_t data = 0;
};

mapped_bytes read_mapped_bytes() {
  std::ifstream in("/proc/self/statm");  // pages: all, resident, shared, code, 0, data and stack
  std::uint64_t all = 0, skipped = 0, data = 0;
  in >> all >> skipped >> skipped >> skipped >> skipped >> data;
  if (!in) return {};
  return {all * page_bytes(), data * page_bytes()};
}

/// What is left of the process's own limits.
std::uint64_t left_of_limits() {
  std::uint64_t const all = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  if (all == none && data == none) return none;
  auto const used = read_mapped_bytes();
  return std::min(all == none ? none : all - std::min(all, used.all),
                  data == none ? none : data - std::min(data, used.data));
}

std::chrono::nanoseconds time_on(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

std::size_t available_threads() {
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0)
    threads = std::min<std::size_t>(threads, static_cast<std::size_t>(CPU_COUNT(&mask)));
  threads = std::min(threads, detail::read_control_group_limits().threads);
  return std::max<std::size_t>(threads, 1);
}

std::uint64_t available_memory_bytes() {
  std::uint64_t const bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                              static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min({bytes, detail::read_control_group_limits().memory_bytes, left_of_limits()});
}

startable_tasks available_tasks() {
  auto const user = detail::read_user_task_limit(limit_of(RLIMIT_NPROC));
  auto const group = detail::read_control_group_limits().tasks;
  auto const& least = user.left() <= group.left() ? user : group;
  if (least.most == detail::task_limit{}.most) return {};
  return {least.left(), fmt::format("{} is {}, and {} exist",
                                    &least == &user ? "RLIMIT_NPROC of the user (ulimit -u)"
                                                    : "pids.max of the control group",
                                    least.most, least.used)};
}

memory_division divide_memory(std::uint64_t available_bytes, std::size_t threads,
                              std::uint64_t codec_bytes) {
  constexpr std::uint64_t fixed = 8_MiB, of_thread = 1_MiB, least_budget = 2_MiB, least = 6_MiB;
  constexpr std::uint64_t least_codecs = 1_MiB;  // gzip, for instance
  if (available_bytes < codec_bytes + least)
    throw budget_error(
        "memory", available_bytes, codec_bytes + least,
        fmt::format("there are {} of memory, of which compressed files take {}; need at least {}",
                    format_bytes(available_bytes), format_bytes(codec_bytes),
                    format_bytes(codec_bytes + least)));
  auto const less = [](std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); };
  std::uint64_t const usable = available_bytes - codec_bytes;
  std::uint64_t const bearable =
      std::max<std::uint64_t>(less(usable / 8 * 5, fixed) / of_thread, 1);
  memory_division division;
  division.threads = std::clamp<std::uint64_t>(threads, 1, bearable);
  std::uint64_t const beside = fixed + division.threads * of_thread;
  division.budget_bytes =
      std::max({least_budget, usable / 4, std::min(available_bytes / 2, less(usable, beside))});
  division.threads = std::min(division.threads, most_threads_for(division.budget_bytes));
  division.codec_bytes =
      std::max({codec_bytes, least_codecs, less(available_bytes, division.budget_bytes + beside)});
  return division;
}

std::size_t most_threads_for(std::uint64_t budget_bytes) noexcept {
  constexpr std::uint64_t always = 16;
  return std::max(always, budget_bytes / 4_MiB);
}

bool has_bounded_address_space() noexcept {
  return limit_of(RLIMIT_AS) != std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t file_size_limit_bytes() noexcept { return limit_of(RLIMIT_FSIZE); }

std::chrono::nanoseconds thread_processor_time() noexcept {
  return time_on(CLOCK_THREAD_CPUTIME_ID);
}

std::chrono::nanoseconds process_processor_time() noexcept {
  return time_on(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace outsize
