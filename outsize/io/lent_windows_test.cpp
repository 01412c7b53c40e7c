// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// What is put comes out in order, and nothing is touched that a stream may still be writing.

#include <outsize/io/lent_windows.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <new>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>

namespace outsize::io {
namespace {

/// Writes only when it is waited for, and asks for a lead.
class late_stream final : public output_stream {
 public:
  std::size_t alignment_bytes() const noexcept override { return 16; }
  std::size_t lead_bytes() const noexcept override { return given_bytes_ % 16; }
  void write(std::span<std::byte> data) override {
    EXPECT_EQ((reinterpret_cast<std::uintptr_t>(data.data()) - lead_bytes()) % 16, 0U);
    given_bytes_ += data.size();
    lent_.push_back(data);
  }
  void wait(std::span<std::byte const> window) override {
    if (fails) throw io_error(EIO, "write", name_);
    if (fails_without_memory) throw std::bad_alloc();
    auto const lies_inside = [&](auto const& one) {
      return !std::less<>()(one.data(), window.data()) &&
             std::less<>()(one.data(), window.data() + window.size());
    };
    for (; !lent_.empty() && lies_inside(lent_.front()); lent_.erase(lent_.begin()))
      text.append(reinterpret_cast<char const*>(lent_.front().data()), lent_.front().size());
    EXPECT_TRUE(std::ranges::none_of(lent_, lies_inside)) << "in the order of the file";
  }
  void commit() override {}
  std::uint64_t written_bytes() const noexcept override { return given_bytes_; }
  std::string const& name() const noexcept override { return name_; }

  std::string text;
  bool fails = false;
  bool fails_without_memory = false;

 private:
  std::string name_ = "late";
  std::uint64_t given_bytes_ = 0;
  std::vector<std::span<std::byte>> lent_;
};

struct lending : testing::Test {
  alignas(16) std::array<std::byte, 256> memory{};
  late_stream stream;
};

TEST_F(lending, windows_in_turn_loses_nothing) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::string want;
  {
    lent_windows windows(stream, memory);
    for (int i = 0; i < 500; ++i) {
      std::string const some(random() % (i % 20 == 0 ? 1000 : 30), static_cast<char>('a' + i % 26));
      if (random() % 2 == 0 && some.size() < 100) {
        auto const place = windows.room(some.size());
        std::ranges::copy(std::as_bytes(std::span(some)), place.begin());
        windows.used(some.size());
      } else {
        windows.put(std::as_bytes(std::span(some)));
      }
      want += some;
      if (random() % 50 == 0) windows.hand_over();
    }
    windows.hand_over();
  }
  EXPECT_EQ(stream.text, want);
}

TEST_F(lending, windows_to_a_stream_that_fails_tells_of_it_but_at_the_end) {
  lent_windows windows(stream, memory);
  stream.fails = true;
  EXPECT_THROW(windows.put(std::span(memory).first(200)), io_error);
}

TEST_F(lending, ends_whatever_the_stream_throws) {
  {
    lent_windows windows(stream, memory);
    windows.put(std::as_bytes(std::span("abc", 3)));
    stream.fails_without_memory = true;
  }
  EXPECT_EQ(stream.text, "");
}

}  // namespace
}  // namespace outsize::io
