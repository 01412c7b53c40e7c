// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Vectors over files of the user's: other programs read what is in them, and write what they read.

#include <stdlib.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/kept_file.hpp>
#include <outsize/container/page_space.hpp>
#include <outsize/container/paged_items.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_options.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

namespace fs = std::filesystem;

template <std::size_t Bytes>
struct record {
  std::array<char, Bytes> bytes;
  friend bool operator==(record const&, record const&) = default;
};

template <typename T>
T item(std::uint64_t number) {
  T made{};
  std::memcpy(&made, &number, std::min(sizeof made, sizeof number));
  return made;
}

struct vectors_in_files : testing::Test {
  vectors_in_files() {
    std::string pattern = testing::TempDir() + "/outsize-vector-XXXXXX";
    directory = ::mkdtemp(pattern.data());
    store.emplace(storage_options{
        .disks = {disk_options(directory.string())}, .memory = 64_MiB, .threads = 1});
  }
  ~vectors_in_files() override {
    store.reset();
    fs::remove_all(directory);
  }

  std::string path(char const* name = "items") const { return (directory / name).string(); }
  template <typename T>
  std::vector<T> content() const {
    std::ifstream in(path(), std::ios::binary);
    std::string const bytes(std::istreambuf_iterator<char>(in), {});
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!items.empty()) std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
    return items;
  }
  template <typename T>
  std::vector<T> write_file(std::size_t count, std::size_t extra_bytes = 0) const {
    std::vector<T> items;
    for (std::size_t i = 0; i < count; ++i) items.push_back(item<T>(i * 3 + 1));
    std::ofstream out(path(), std::ios::binary);
    out.write(reinterpret_cast<char const*>(items.data()),
              static_cast<std::streamsize>(count * sizeof(T)));
    out << std::string(extra_bytes, 'x');
    return items;
  }

  template <typename T>
  void check_round_trip(std::size_t count) {
    SCOPED_TRACE(testing::Message() << count << " items of " << sizeof(T));
    fs::remove(path());
    std::vector<T> model;
    {
      auto v = vector<T>::create(path(), *store, {.page_bytes = 4_KiB, .cache_pages = 4});
      for (std::uint64_t i = 0; i < count; ++i) {
        v.push_back(item<T>(i));
        model.push_back(item<T>(i));
      }
      v.flush();
      EXPECT_EQ(content<T>(), model);
      EXPECT_EQ(fs::file_size(path()), count * sizeof(T));
      v.push_back(item<T>(7));
      model.push_back(item<T>(7));
      v[0] = model[0] = item<T>(9);
    }
    EXPECT_EQ(content<T>(), model);
    auto v = vector<T>::open(path(), *store);
    ASSERT_EQ(v.size(), model.size());
    EXPECT_TRUE(std::equal(v.cbegin(), v.cend(), model.begin()));
    v.resize(count / 2);
    model.resize(count / 2);
    v.close();
    EXPECT_EQ(content<T>(), model);
    EXPECT_EQ(fs::file_size(path()), model.size() * sizeof(T));
  }

  fs::path directory;
  std::optional<storage> store;
};

TEST_F(vectors_in_files, leave_the_items_there_and_nothing_else) {
  for (std::size_t count : {1U, 511U, 512U, 513U, 20'000U}) {
    check_round_trip<std::uint64_t>(count);
    check_round_trip<record<100>>(count);
  }
  check_round_trip<record<4097>>(50);  // does not go together with direct I/O
}

TEST_F(vectors_in_files, read_what_others_wrote_without_what_is_no_item) {
  auto const items = write_file<record<24>>(1000, 23);
  {
    auto const v = vector<record<24>>::open(path(), *store, io::access::read_only);
    ASSERT_EQ(v.size(), 1000U);
    EXPECT_TRUE(std::equal(v.begin(), v.end(), items.begin()));
  }
  { auto const v = vector<record<24>>::open(path(), *store); }
  EXPECT_EQ(fs::file_size(path()), 24'023U) << "nothing was changed";
  {
    auto v = vector<record<24>>::open(path(), *store);
    v.push_back(items[0]);
  }
  EXPECT_EQ(fs::file_size(path()), 24'024U);
  EXPECT_EQ(content<record<24>>().back(), items[0]);
}

TEST_F(vectors_in_files, refuse_what_they_may_not_do_and_name_the_file) {
  auto const items = write_file<std::uint64_t>(100);
  auto const expect_error = [&](int number, auto const& action) {
    try {
      action();
      ADD_FAILURE() << "done";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), number);
      EXPECT_EQ(e.path(), path());
    }
  };
  using numbers = vector<std::uint64_t>;
  auto v = numbers::open(path(), *store, io::access::read_only);
  expect_error(EACCES, [&] { v[3] = 4; });
  expect_error(EACCES, [&] { v.push_back(4); });
  expect_error(EACCES, [&] { v.clear(); });
  EXPECT_EQ(std::as_const(v)[3], items[3]);
  expect_error(EEXIST, [&] { numbers::create(path(), *store); });
  v.close();
  EXPECT_EQ(content<std::uint64_t>(), items);
  fs::remove(path());
  expect_error(ENOENT, [&] { numbers::open(path(), *store); });
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(vectors_in_files, may_be_empty) {
  { auto const v = vector<int>::create(path(), *store); }
  EXPECT_EQ(fs::file_size(path()), 0U);
  auto v = vector<int>::open(path(), *store);
  EXPECT_TRUE(v.empty());
  v.push_back(1);
  v.clear();
  v.close();
  EXPECT_EQ(fs::file_size(path()), 0U);
}

TEST_F(vectors_in_files, that_are_kept_are_there_again) {
  using numbers = vector<std::uint64_t>;
  vector_options const options{.page_bytes = 4_KiB, .cache_pages = 4};
  std::vector<std::uint64_t> model;
  {
    auto v = numbers::create_kept(path(), *store, options);
    EXPECT_TRUE(v.was_closed());
    for (std::uint64_t i = 0; i < 20'000; ++i) v.push_back(i);
    v.flush();
    for (std::uint64_t i = 0; i < 20'000; i += 7) v[i] = 0;  // elsewhere than what was flushed
    fs::copy_file(path(), path() + ".copy");                 // what a crash would leave now
    auto const meanwhile = numbers::open_kept(path() + ".copy", *store, io::access::read_only);
    EXPECT_FALSE(meanwhile.was_closed());
    ASSERT_EQ(meanwhile.size(), 20'000U);
    for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_EQ(meanwhile[i], i);
    v.resize(19'000);
    model.assign(v.cbegin(), v.cend());
  }
  {
    auto v = numbers::open_kept(path(), *store, io::access::read_write, options);
    EXPECT_TRUE(v.was_closed());
    ASSERT_EQ(v.size(), model.size());
    EXPECT_TRUE(std::equal(v.cbegin(), v.cend(), model.begin()));
    v.clear();
    v.close();
  }
  EXPECT_EQ(fs::file_size(path()), 8_KiB) << "shrinking frees the space of pages";
  EXPECT_THROW(vector<int>::open_kept(path(), *store), format_error);
  EXPECT_THROW(numbers::create_kept(path(), *store), io_error);
  fs::remove(path());
  auto const items = write_file<std::uint64_t>(10'000);
  EXPECT_THROW(numbers::open_kept(path(), *store), format_error);
  EXPECT_EQ(content<std::uint64_t>(), items);
}

TEST_F(vectors_in_files, that_may_only_be_read_keep_their_size) {
  using numbers = vector<std::uint64_t>;
  auto const items = write_file<std::uint64_t>(1000);
  vector_options const options{.page_bytes = 4_KiB, .cache_pages = 4};
  numbers::create_kept(path("kept"), *store, options).resize(1000);
  auto const expect_refused = [](numbers& v, auto const& action) {
    try {
      action();
      ADD_FAILURE() << "done";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), EACCES);
    }
    EXPECT_EQ(v.size(), 1000U);
  };
  auto plain = numbers::open(path(), *store, io::access::read_only, options);
  auto kept = numbers::open_kept(path("kept"), *store, io::access::read_only, options);
  for (auto* const v : {&plain, &kept}) {
    expect_refused(*v, [&] { v->pop_back(); });
    expect_refused(*v, [&] { v->pop_back(); });
    expect_refused(*v, [&] { v->resize(999); });
    expect_refused(*v, [&] { v->resize(1001); });
    expect_refused(*v, [&] { v->push_back(1); });
  }
  EXPECT_TRUE(std::equal(plain.cbegin(), plain.cend(), items.begin(), items.end()));
}

}  // namespace
}  // namespace outsize
