// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_version.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block = 4096, file_bytes = 20 * block + 17;

void append(std::string const& path) { std::ofstream(path, std::ios::app) << "more"; }

/// Writes one byte in place, at another time than any before.
void overwrite(std::string const& path) {
  auto const before = fs::last_write_time(path);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << 'x';
  fs::last_write_time(path, before + std::chrono::seconds(1));
}

void replace(std::string const& path) {
  scratch::write_file(path + ".new", scratch::read_file(path));
  fs::rename(path + ".new", path);
}

class changing_file : public testing::TestWithParam<backend> {
 protected:
  void SetUp() override { scratch::write_file(path_, std::string(file_bytes, 'a')); }

  /// Reads the file, and changes it after the first piece. Returns the number of bytes read.
  std::size_t read_while(std::function<void()> const& change, growth_listener on_growth = {}) {
    auto const in = open_input(path_, *queue_, grant_,
                               {.block_bytes = block, .depth = 2, .on_growth = on_growth});
    std::size_t bytes = in->next().size();
    change();
    for (auto view = in->next(); !view.empty(); view = in->next()) bytes += view.size();
    return bytes;
  }
  std::string error_while(std::function<void()> const& change) {
    try {
      read_while(change);
    } catch (changed_file const& error) {
      EXPECT_EQ(error.path(), path_);
      return std::string(error.what()).substr(path_.size());
    }
    return "none";
  }

  scratch::directory directory_;
  std::string path_ = directory_.path("in");
  memory_budget budget_{1_MiB};
  grant grant_ = budget_.take(1_MiB, "test");
  std::unique_ptr<request_queue> queue_ = make_request_queue(GetParam());
};

TEST_P(changing_file, that_is_cut_short_is_an_error) {
  for (std::uint64_t const left : {9 * block + 5, 9 * block, std::size_t{0}}) {
    SetUp();
    EXPECT_EQ(error_while([&] { fs::resize_file(path_, left); }),
              ": changed while it was read: it had 81937 bytes, " + std::to_string(left) +
                  " are there now");
  }
}

TEST_P(changing_file, that_is_written_to_is_an_error) {
  EXPECT_EQ(error_while([&] { overwrite(path_); }),
            ": changed while it was read: it has been written to");
}

TEST_P(changing_file, that_grows_is_read_as_it_was_and_told_of) {
  EXPECT_EQ(error_while([&] { append(path_); }),
            ": changed while it was read: it had 81937 bytes, 81941 are there now");
  SetUp();
  std::vector<std::string> told;
  auto const listener = [&](std::string const& message) { told.push_back(message); };
  EXPECT_EQ(read_while([&] { append(path_); }, listener), file_bytes);
  EXPECT_EQ(told, std::vector{path_ + ": grew while it was read: it had 81937 bytes, 81941 are "
                                      "there now; what was appended is left out"});
  SetUp();
  EXPECT_THROW(read_while([&] { overwrite(path_); }, listener), changed_file);
  auto const write_anew = [&] { scratch::write_file(path_, std::string(2 * file_bytes, 'b')); };
  SetUp();
  EXPECT_THROW(read_while(write_anew, listener), changed_file);
  EXPECT_EQ(told.size(), 1U);
}

TEST_P(changing_file, may_get_other_names_and_rights) {
  EXPECT_EQ(error_while([&] {
              fs::permissions(path_, fs::perms::owner_all);
              fs::create_hard_link(path_, directory_.path("other"));
            }),
            "none");
  EXPECT_EQ(error_while([&] { replace(path_); }), "none");  // the old one is read to its end
}

INSTANTIATE_TEST_SUITE_P(backends, changing_file,
                         testing::Values(backend::automatic, backend::threads, backend::mmap));

class replaced_input : public testing::Test {
 protected:
  void SetUp() override { scratch::write_file(path_, "old"); }

  /// What comes of an output that replaces the input under this name, which changes before.
  std::string error_after(std::function<void()> const& change, std::string const& output) {
    input_watch const watch({directory_.path("none"), path_}, output);
    output_file made(output, 0, *queue_);
    change();
    try {
      made.commit(0, watch);
    } catch (changed_file const& error) {
      return std::string(error.what()).substr(output.size());
    }
    return "none";
  }

  scratch::directory directory_;
  std::string path_ = directory_.path("in");
  std::unique_ptr<request_queue> queue_ = make_request_queue();
};

TEST_F(replaced_input, stays_if_it_has_changed) {
  std::string const has_changed = ": not replaced: it has changed since the work began: ";
  EXPECT_EQ(error_after([&] { append(path_); }, path_),
            has_changed + "it had 3 bytes, 7 are there now");
  EXPECT_EQ(scratch::read_file(path_), "oldmore");
  EXPECT_EQ(error_after([&] { overwrite(path_); }, path_), has_changed + "it has been written to");
  EXPECT_EQ(scratch::read_file(path_), "xldmore");
  auto const take_rights = [&] { fs::permissions(path_, fs::perms::owner_all); };
  EXPECT_EQ(error_after(take_rights, path_),
            has_changed + "its mode, owner, attributes or names are others");
  EXPECT_EQ(error_after([&] { replace(path_); }, path_),
            ": not replaced: another file has got its name meanwhile");
  EXPECT_EQ(error_after([&] { fs::remove(path_); }, path_),
            ": not replaced: another file has got its name meanwhile");
  EXPECT_EQ(directory_.names(), std::vector<std::string>{});
}

TEST_F(replaced_input, is_known_by_every_name) {
  auto const hard = directory_.path("hard"), soft = directory_.path("soft");
  fs::create_hard_link(path_, hard);
  fs::create_symlink("in", soft);
  for (auto const& name : {hard, soft}) {
    EXPECT_NE(error_after([&] { append(path_); }, name), "none");
  }
  auto const lead_elsewhere = [&] {
    scratch::write_file(directory_.path("other"), "other");
    fs::remove(soft);
    fs::create_symlink("other", soft);
  };
  EXPECT_NE(error_after(lead_elsewhere, soft), "none");
  EXPECT_EQ(scratch::read_file(path_), "oldmoremore");
}

TEST_F(replaced_input, is_replaced_if_it_is_as_it_was) {
  EXPECT_EQ(error_after([] {}, path_), "none");
  EXPECT_EQ(scratch::read_file(path_), "");
  SetUp();
  EXPECT_EQ(error_after([&] { append(path_); }, directory_.path("out")), "none");  // not replaced
  EXPECT_EQ(scratch::read_file(path_), "oldmore");
}

}  // namespace
}  // namespace outsize::io
