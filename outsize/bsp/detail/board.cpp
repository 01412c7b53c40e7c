// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/board.hpp>

#include <utility>

#include <fmt/format.h>

#include <outsize/bsp/bsp_error.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::size_t most_named = 8;
constexpr std::chrono::seconds patience{60};
constexpr std::chrono::milliseconds short_while{100};

std::string text_of(std::uint32_t rank, wait_note const& wait) {
  std::string text = fmt::format("{} in {}", rank, wait.call);
  if (wait.group != 0) text += fmt::format(" of group {}", wait.group);
  if (wait.peer != wait_note::any) text += fmt::format(" from {}", wait.peer);
  if (wait.tag != wait_note::any) text += fmt::format(", tag {}", wait.tag);
  return text;
}

}  // namespace

void board::wake_all() {
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) ranks.wake(rank);
  for (std::condition_variable& worker : worker_wakes_) worker.notify_all();
  pager_wakes.notify_all();
}

void board::fail(std::exception_ptr error, std::uint32_t rank) {
  if (!has_failed()) {
    failure = {std::move(error), rank};
    if (on_failure) on_failure();
  }
  wake_all();
}

void board::lose(std::exception_ptr error) {
  is_lost = true;
  fail(std::move(error));
  abandon_absent();
}

void board::abandon_absent() {
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) {
    if (ranks.activity_of(rank) != scheduler::activity::ready ||
        ranks.presence_of(rank) == scheduler::presence::present) {
      continue;
    }
    if (ranks.active_of(ranks.worker_of(rank)) == rank) {
      ranks.resume_in_need(rank);  // its memory is there: it lacks only what it asked for
    } else {
      ranks.abandon(rank);
      record.end(rank);
    }
  }
}

void board::check_progress() {
  if (is_lost) abandon_absent();  // some need memory that cannot come any more
  if (has_failed() || !ranks.is_stuck() || go_on_polling()) return;
  fail_for_waits("wait");
}

bool board::go_on_polling() {
  auto const now = std::chrono::steady_clock::now();
  bool const has_computed = now - looked_ > short_while;  // somebody, between two polls
  looked_ = now;
  if (steps != steps_seen_ || has_computed) {
    steps_seen_ = steps;
    seen_ = now;
  }
  if (!ranks.wake_pollers()) return false;
  if (now - seen_ > patience) {
    fail_for_waits("wait or poll");
    return true;
  }
  for (std::condition_variable& worker : worker_wakes_) worker.notify_all();
  pager_wakes.notify_all();
  return true;
}

/// One line names the calls of the first few.
void board::fail_for_waits(char const* how) {
  std::string text;
  std::size_t count = 0;
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) {
    if (ranks.activity_of(rank) == scheduler::activity::ended) continue;
    if (++count <= most_named) text += (text.empty() ? "" : "; ") + text_of(rank, waits[rank]);
  }
  if (count > most_named) text += fmt::format("; and {} more", count - most_named);
  fail(std::make_exception_ptr(bsp_error(
      bsp_error::nobody,
      fmt::format("virtual processors: all {} that have not ended {}: {}", count, how, text))));
}

}  // namespace outsize::bsp::detail
