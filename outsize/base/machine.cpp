// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/machine.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <thread>

#include <outsize/base/control_groups.hpp>

namespace outsize {
namespace {

std::uint64_t limit_of(__rlimit_resource_t resource) noexcept {
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  rlimit limit{};
  return ::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? none
                                                                               : limit.rlim_cur;
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
  return std::min({bytes, detail::read_control_group_limits().memory_bytes, limit_of(RLIMIT_AS),
                   limit_of(RLIMIT_DATA)});
}

std::uint64_t file_size_limit_bytes() noexcept { return limit_of(RLIMIT_FSIZE); }

std::chrono::nanoseconds thread_processor_time() noexcept {
  return time_on(CLOCK_THREAD_CPUTIME_ID);
}

std::chrono::nanoseconds process_processor_time() noexcept {
  return time_on(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace outsize
