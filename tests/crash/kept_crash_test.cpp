// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Processes that write kept containers are killed (SIGKILL) at random moments, dozens of times on
// one file: it holds what was flushed last, or what was being flushed, and can be gone on with.
// What a power failure leaves, which loses writes that were not synced besides, is for
// kept_file_test.cpp and map_file_test.cpp.
//
// OUTSIZE_TEST_SEED repeats the steps of a run, but not the moments.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

#include "kept_history.hpp"

namespace outsize::crash {
namespace {

std::uint64_t given_seed() {
  char const* const given = std::getenv("OUTSIZE_TEST_SEED");
  return given != nullptr ? std::stoull(given) : std::random_device()();
}

/// A process of kept_writer.cpp, which ends with this object at the latest.
class writer {
 public:
  static constexpr std::uint64_t endless = UINT64_MAX;

  writer(std::string const& kind, std::string const& path, std::uint64_t seed,
         std::uint64_t steps) {
    std::array<std::string, 5> words = {OUTSIZE_KEPT_WRITER, kind, path, std::to_string(seed),
                                        std::to_string(steps)};
    std::array<char*, 6> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    reports_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int const error =
        ::posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
      ::close(reports_);
      throw std::runtime_error("cannot run " + words[0]);
    }
  }
  writer(writer const&) = delete;
  writer& operator=(writer const&) = delete;
  ~writer() {
    kill();
    ::close(reports_);
  }

  /// Waits for it. Nothing: the process has ended.
  std::optional<std::uint64_t> next_report() {
    std::uint64_t steps = 0;
    if (::read(reports_, &steps, sizeof steps) != sizeof steps) return {};
    return steps;
  }
  void kill() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    end();
  }
  /// Waits for its end. The status is waitpid's.
  int end() {
    ::waitpid(process_, &status_, 0);
    process_ = -1;
    return status_;
  }
  bool was_killed() const { return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }

 private:
  pid_t process_ = -1;
  int reports_ = -1;
  int status_ = 0;
};

void sleep_up_to(std::chrono::microseconds most, std::mt19937_64& random) {
  std::this_thread::sleep_for(most * (random() % 1000) / 1000);
}

/// One file, which is written and looked at in turns.
template <typename History>
class file_of_history {
 public:
  file_of_history(std::string path, std::uint64_t seed)
      : path_(std::move(path)), seed_(seed), random_(seed) {}

  /// @param least  Reports to wait for, or some more.
  void write_until_killed(std::uint64_t least) {
    writer process(History::name, path_, seed_, writer::endless);
    for (std::uint64_t some = least + random_() % 4; some > 0; --some) note(process.next_report());
    sleep_up_to(std::chrono::milliseconds(3), random_);
    process.kill();
    ASSERT_TRUE(process.was_killed()) << "it has failed before";
    while (note(process.next_report())) continue;
    look();
  }
  void write_to_the_end(std::uint64_t some) {
    writer process(History::name, path_, seed_, some);
    std::uint64_t const before = flushed_;
    while (note(process.next_report())) continue;
    ASSERT_EQ(process.end(), 0);
    ASSERT_EQ(flushed_, before + some);
    closed_ = flushed_;
    look();
    EXPECT_TRUE(open().was_closed());
  }
  std::uint64_t flushed() const { return flushed_; }

 private:
  bool note(std::optional<std::uint64_t> steps) {
    flushed_ = steps.value_or(flushed_);
    return steps.has_value();
  }
  typename History::kept open() { return History::open(path_, store_, io::access::read_only); }

  /// Compares with the model after the last step that was flushed, or the next one.
  void look() {
    auto const found = open();
    std::uint64_t const steps = History::steps(found);
    ASSERT_TRUE(steps == flushed_ || steps == flushed_ + 1)
        << steps << " steps, flushed were " << flushed_;
    while (modelled_ < steps) History::step(model_, seed_, ++modelled_);
    ASSERT_TRUE(History::same(found, model_)) << "after " << steps << " steps";
    if (steps > closed_) {
      EXPECT_FALSE(found.was_closed());
    }
    flushed_ = steps;
  }

  std::string path_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  storage store_{without_disks()};
  typename History::model model_;
  std::uint64_t modelled_ = 0;  // steps
  std::uint64_t flushed_ = 0;   // as was reported, or found
  std::uint64_t closed_ = 0;
};

template <typename History>
struct kept_containers : testing::Test {
  scratch::directory directory;
  std::string const path = directory.path("kept");
  std::uint64_t const seed = given_seed();
};

struct history_names {
  template <typename History>
  static std::string GetName(int) {
    return History::name;
  }
};
TYPED_TEST_SUITE(kept_containers, histories<testing::Types>, history_names);

TYPED_TEST(kept_containers, are_as_they_were_flushed_whenever_their_process_is_killed) {
  SCOPED_TRACE(testing::Message() << "OUTSIZE_TEST_SEED=" << this->seed);
  file_of_history<TypeParam> file(this->path, this->seed);
  file.write_until_killed(1);  // the report that it is there
  for (int lives = 0; lives < 3; ++lives) {
    for (int kills = 0; kills < 10 && !this->HasFatalFailure(); ++kills) file.write_until_killed(0);
    if (!this->HasFatalFailure()) file.write_to_the_end(2);
  }
  EXPECT_GE(file.flushed(), 6U);
  // The space of what was under way is used again: a file of many lives is as long as one of few.
  EXPECT_LE(std::filesystem::file_size(this->path), 16_MiB);
}

TYPED_TEST(kept_containers, that_were_killed_while_they_were_made_are_there_or_refused) {
  SCOPED_TRACE(testing::Message() << "OUTSIZE_TEST_SEED=" << this->seed);
  std::mt19937_64 random(this->seed);
  storage store(without_disks());
  std::ofstream(this->path).close();  // killed before the first header
  EXPECT_THROW(TypeParam::open(this->path, store, io::access::read_write), format_error);
  for (int i = 0; i < 15; ++i) {
    std::filesystem::remove(this->path);
    writer process(TypeParam::name, this->path, this->seed, 0);
    while (!std::filesystem::exists(this->path)) std::this_thread::yield();
    sleep_up_to(std::chrono::microseconds(500), random);
    process.kill();
    try {
      auto const found = TypeParam::open(this->path, store, io::access::read_only);
      EXPECT_TRUE(found.empty());
    } catch (format_error const& e) {
      EXPECT_EQ(std::string(e.what()).rfind(this->path, 0), 0U) << e.what();
    }
  }
}

}  // namespace
}  // namespace outsize::crash
