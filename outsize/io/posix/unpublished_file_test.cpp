// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/unpublished_file.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io::detail {
namespace {

using names = std::vector<std::string>;

class unpublished_file_test : public testing::TestWithParam<naming> {
 protected:
  std::optional<unpublished_file> make(std::string const& name) {
    auto const path = directory_.path(name);
    return std::optional<unpublished_file>(std::in_place, find_replaceable(path).value(), path,
                                           GetParam());
  }
  bool has_hidden_name() const {
    for (auto const& name : directory_.names()) {
      if (name.starts_with(".outsize-")) return true;
    }
    return false;
  }
  void fill(unpublished_file const& file, std::string_view text) {
    open_descriptor const target(file.duplicate_descriptor());
    ASSERT_EQ(::write(target.number(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  unsigned mode_of(std::string const& name) const {
    struct stat found {};
    EXPECT_EQ(::lstat(directory_.path(name).c_str(), &found), 0);
    return found.st_mode & 07777U;
  }

  scratch::directory directory_;
};

TEST_P(unpublished_file_test, appears_when_published) {
  auto const saved = ::umask(022);
  auto file = make("new");
  ::umask(saved);
  fill(*file, "text");
  EXPECT_FALSE(std::filesystem::exists(directory_.path("new")));
  file->publish();
  file.reset();
  EXPECT_EQ(directory_.names(), names{"new"});
  EXPECT_EQ(scratch::read_file(directory_.path("new")), "text");
  EXPECT_EQ(mode_of("new"), 0644U);
}

TEST_P(unpublished_file_test, replaces_a_file_and_keeps_its_mode) {
  scratch::write_file(directory_.path("old"), "old");
  ASSERT_EQ(::chmod(directory_.path("old").c_str(), 0640), 0);
  auto file = make("old");
  fill(*file, "new");
  EXPECT_EQ(scratch::read_file(directory_.path("old")), "old");
  file->publish();
  EXPECT_EQ(scratch::read_file(directory_.path("old")), "new");
  EXPECT_EQ(mode_of("old"), 0640U);
  EXPECT_EQ(directory_.names(), names{"old"});
}

TEST_P(unpublished_file_test, goes_when_it_is_not_published) {
  auto file = make("new");
  EXPECT_EQ(has_hidden_name(), GetParam() == naming::hidden);
  if (has_hidden_name()) {
    EXPECT_EQ(mode_of(directory_.names().front()), 0600U);
  }
  file.reset();
  EXPECT_EQ(directory_.names(), names{});
}

TEST_P(unpublished_file_test, goes_when_it_cannot_be_published) {
  auto file = make("new");
  std::filesystem::create_directory(directory_.path("new"));
  EXPECT_THROW(file->publish(), io_error);
  file.reset();
  EXPECT_EQ(directory_.names(), names{"new"});
}

TEST_P(unpublished_file_test, goes_when_a_signal_ends_the_process) {
  auto first = make("first");
  auto const second = make(std::string(250, 'n'));
  auto const published = make("published");
  first.reset();
  make("published")->publish();
  remove_hidden_outputs();
  EXPECT_EQ(directory_.names(), names{"published"});
}

TEST_P(unpublished_file_test, that_has_a_name_is_told_of_when_the_process_ends) {
  auto const end = [] { std::_Exit(end_publishing() ? 1 : 0); };
  make("new")->publish();
  EXPECT_EXIT(end(), testing::ExitedWithCode(1), "");
}

TEST_P(unpublished_file_test, needs_no_place_in_the_table_of_signals) {
  std::vector<std::optional<unpublished_file>> files(100);
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto const path = directory_.path(std::to_string(i));
    files[i].emplace(find_replaceable(path).value(), path, GetParam());
  }
  files.clear();
  EXPECT_EQ(directory_.names(), names{});
}

INSTANTIATE_TEST_SUITE_P(ways, unpublished_file_test,
                         testing::Values(naming::unnamed, naming::hidden), [](auto const& tested) {
                           return tested.param == naming::hidden ? "hidden" : "unnamed";
                         });

}  // namespace
}  // namespace outsize::io::detail
