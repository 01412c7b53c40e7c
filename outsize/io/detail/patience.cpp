// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/patience.hpp>

#include <algorithm>
#include <thread>

namespace outsize::io::detail {
namespace {

constexpr unsigned most_refusals = 1000;
constexpr unsigned most_pauses = 48;
constexpr unsigned most_doublings = 8;

}  // namespace

bool patience::try_again(int error_number) noexcept {
  if (++refusals_ > most_refusals) return false;
  if (error_number != EAGAIN) return true;
  if (++pauses_ > most_pauses) return false;
  int const saved = errno;
  std::this_thread::sleep_for(pause_after(pauses_));
  errno = saved;
  return true;
}

std::chrono::milliseconds patience::pause_after(unsigned attempts) noexcept {
  if (attempts <= 1) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(1U << std::min(attempts - 2, most_doublings));
}

bool is_passing(int error_number) noexcept {
  return error_number == EINTR || error_number == EAGAIN;
}

}  // namespace outsize::io::detail
