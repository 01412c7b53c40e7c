// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/hidden_name.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <outsize/io/output_stream.hpp>
#include <outsize/testing/forked.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io::detail {
namespace {

TEST(hidden_name, removes_the_file_with_itself_unless_it_is_kept) {
  scratch::directory directory;
  for (bool keeps : {false, true}) {
    auto const path = directory.path("file");
    {
      hidden_name name(path);
      scratch::write_file(path, "text");
      if (keeps) name.keep();
    }
    EXPECT_EQ(std::filesystem::exists(path), keeps);
  }
}

TEST(hidden_name, is_found_by_a_signal_handler_until_it_is_kept) {
  scratch::directory directory;
  hidden_name const here(directory.path("here"));
  hidden_name kept(directory.path("kept"));
  kept.keep();
  scratch::write_file(here.path(), "text");
  scratch::write_file(kept.path(), "text");
  remove_hidden_outputs();
  remove_hidden_outputs();
  EXPECT_EQ(directory.names(), std::vector<std::string>{"kept"});
}

TEST(hidden_name, is_not_removed_by_a_process_that_comes_from_a_fork) {
  scratch::directory directory;
  auto name = std::make_unique<hidden_name>(directory.path("here"));
  scratch::write_file(name->path(), "text");
  EXPECT_TRUE(scratch::holds_after_fork([&] {
    remove_hidden_outputs();
    name.reset();
    hidden_name const of_that_process(directory.path("there"));
    scratch::write_file(of_that_process.path(), "text");
    remove_hidden_outputs();
    return true;
  }));
  EXPECT_EQ(directory.names(), std::vector<std::string>{"here"});
  name.reset();
  EXPECT_TRUE(directory.names().empty());
}

TEST(hidden_name, comes_and_goes_while_a_handler_runs) {
  scratch::directory directory;
  std::atomic<bool> done = false;
  std::thread handler([&] {
    while (!done) remove_hidden_outputs();
  });
  std::vector<std::thread> owners;
  for (int owner = 0; owner < 3; ++owner) {
    owners.emplace_back([&, owner] {
      for (int i = 0; i < 200; ++i) {
        hidden_name name(directory.path(std::to_string(owner)));
        scratch::write_file(name.path(), "text");
      }
    });
  }
  for (auto& owner : owners) owner.join();
  done = true;
  handler.join();
  EXPECT_TRUE(directory.names().empty());
}

}  // namespace
}  // namespace outsize::io::detail
