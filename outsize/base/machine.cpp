// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/machine.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace outsize {
namespace {

/// The first whitespace-separated words of a file, empty where there are none.
std::pair<std::string, std::string> first_words(char const* path) {
  std::ifstream in(path);
  std::string first;
  std::string second;
  in >> first >> second;
  return {first, second};
}

std::uint64_t number_or(std::string const& text, std::uint64_t otherwise) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return otherwise;
  return text.size() > 19 ? otherwise : std::stoull(text);
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
  auto const [quota, period] = first_words("/sys/fs/cgroup/cpu.max");
  std::uint64_t const quota_us = number_or(quota, 0);
  std::uint64_t const period_us = number_or(period, 0);
  if (quota_us != 0 && period_us != 0)
    threads = std::min<std::size_t>(threads, (quota_us + period_us - 1) / period_us);
  return std::max<std::size_t>(threads, 1);
}

std::uint64_t available_memory_bytes() {
  std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (char const* limit :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    bytes = std::min(bytes, number_or(first_words(limit).first, bytes));
  return bytes;
}

std::chrono::nanoseconds thread_processor_time() noexcept {
  return time_on(CLOCK_THREAD_CPUTIME_ID);
}

std::chrono::nanoseconds process_processor_time() noexcept {
  return time_on(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace outsize
