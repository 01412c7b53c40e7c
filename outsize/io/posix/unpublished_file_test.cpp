// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/unpublished_file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
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

constexpr char const* own_list = "system.posix_acl_access";
constexpr char const* default_list = "system.posix_acl_default";

/// An access control list as the system calls take it: the owner may read and write, user 4321 may
/// read, the owning group may do nothing, others nothing; the mask allows reading.
std::string list_with_a_named_user() {
  struct [[gnu::packed]] entry {
    std::uint16_t tag, rights;
    std::uint32_t id;
  };
  constexpr std::uint32_t none = UINT32_MAX;
  constexpr std::array entries{entry{0x01, 6, none}, entry{0x02, 4, 4321}, entry{0x04, 0, none},
                               entry{0x10, 4, none}, entry{0x20, 0, none}};
  std::string bytes("\2\0\0\0", 4);  // the version
  bytes.append(reinterpret_cast<char const*>(entries.data()), sizeof entries);
  return bytes;
}

std::string attribute(std::string const& path, char const* name) {
  std::string value(1000, '\0');
  ssize_t const length = ::getxattr(path.c_str(), name, value.data(), value.size());
  return length < 0 ? "(none)" : value.substr(0, static_cast<std::size_t>(length));
}

bool set_attribute(std::string const& path, char const* name, std::string const& value) {
  return ::setxattr(path.c_str(), name, value.data(), value.size(), 0) == 0;
}

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
    ASSERT_EQ(::write(file.descriptor()->number(), text.data(), text.size()),
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

TEST_P(unpublished_file_test, takes_over_access_lists_and_attributes) {
  auto const path = directory_.path("old");
  scratch::write_file(path, "old");
  if (!set_attribute(path, own_list, list_with_a_named_user()) ||
      !set_attribute(path, "user.note", std::string("a\0b", 3)))
    GTEST_SKIP() << "no access control lists or attributes here";
  ASSERT_EQ(mode_of("old"), 0640U);  // 4 is the mask, and the group must not get it as a right
  auto file = make("old");
  for (auto const& name : directory_.names()) {
    if (name != "old") {
      EXPECT_EQ(mode_of(name), 0600U);
    }
  }
  fill(*file, "new");
  file->publish();
  EXPECT_EQ(scratch::read_file(path), "new");
  EXPECT_EQ(attribute(path, own_list), list_with_a_named_user());
  EXPECT_EQ(attribute(path, "user.note"), std::string("a\0b", 3));
  EXPECT_EQ(mode_of("old"), 0640U);
}

TEST_P(unpublished_file_test, gives_a_successor_no_rights_by_the_default_of_the_directory) {
  scratch::write_file(directory_.path("old"), "old");
  ASSERT_EQ(::chmod(directory_.path("old").c_str(), 0640), 0);
  if (!set_attribute(directory_.path(""), default_list, list_with_a_named_user()))
    GTEST_SKIP() << "no access control lists here";
  make("old")->publish();
  EXPECT_EQ(attribute(directory_.path("old"), own_list), "(none)");
  EXPECT_EQ(mode_of("old"), 0640U);
  make("new")->publish();  // but a new file as open(2) does
  scratch::write_file(directory_.path("like"), "");
  EXPECT_EQ(attribute(directory_.path("new"), own_list),
            attribute(directory_.path("like"), own_list));
  EXPECT_EQ(mode_of("new"), mode_of("like"));
}

TEST_P(unpublished_file_test, refuses_before_the_work_what_it_could_not_give_back) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs another user's file";
  auto const path = directory_.path("old");
  scratch::write_file(path, "old");
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(directory_.path("").c_str(), 0777), 0);
  std::string refusal;
  ASSERT_EQ(::seteuid(4321), 0);
  try {
    make("old");
  } catch (io_error const& error) {
    refusal = error.what();
  }
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(refusal,
            path + ": cannot replace it and keep its owner, user 0: Operation not permitted");
  EXPECT_EQ(directory_.names(), names{"old"});
}

TEST_P(unpublished_file_test, refuses_to_replace_what_may_only_be_appended_to) {
  auto const path = directory_.path("old");
  scratch::write_file(path, "old");
  open_descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int flags = 0;
  if (::ioctl(file.number(), FS_IOC_GETFLAGS, &flags) != 0) GTEST_SKIP() << "no such flags here";
  int appended = flags | FS_APPEND_FL;
  if (::ioctl(file.number(), FS_IOC_SETFLAGS, &appended) != 0) GTEST_SKIP() << "needs root";
  EXPECT_THROW(make("old"), io_error);
  EXPECT_EQ(::ioctl(file.number(), FS_IOC_SETFLAGS, &flags), 0);
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

TEST_P(unpublished_file_test, goes_when_it_cannot_be_closed) {
  scratch::write_file(directory_.path("old"), "old");
  auto file = make("old");
  fill(*file, "new");
  ASSERT_EQ(::close(file->descriptor()->number()), 0);  // so that closing it fails
  EXPECT_THROW(file->publish(), io_error);
  file.reset();
  EXPECT_EQ(scratch::read_file(directory_.path("old")), "old");
  EXPECT_EQ(directory_.names(), names{"old"});
}

TEST_P(unpublished_file_test, is_closed_when_it_has_its_name) {
  auto file = make("new");
  file->publish();
  EXPECT_EQ(file->descriptor()->number(), -1) << "what it tells then would come too late";
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
