// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Vectors over files of the user's: other programs read what is in them, and write what they read.

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/page/detail/page_space.hpp>
#include <outsize/page/page_options.hpp>
#include <outsize/testing/effort.hpp>

namespace {

std::atomic<int> synced_directories = 0;

}  // namespace

/// In place of the C library's, as what outlives a power failure cannot be seen without one.
extern "C" int fsync(int descriptor) {
  struct ::stat about {};
  if (::fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) ++synced_directories;
  return ::fdatasync(descriptor);
}

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
        .disks = {disk_options(directory.string())}, .memory_bytes = 64_MiB, .threads = 1});
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
      auto v = vector<T>::create_plain(path(), *store, {.page_bytes = 4_KiB, .cache_pages = 4});
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
    auto v = vector<T>::open_plain(path(), *store);
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
    auto const v = vector<record<24>>::open_plain(path(), *store, io::access::read_only);
    ASSERT_EQ(v.size(), 1000U);
    EXPECT_TRUE(std::equal(v.begin(), v.end(), items.begin()));
  }
  { auto const v = vector<record<24>>::open_plain(path(), *store); }
  EXPECT_EQ(fs::file_size(path()), 24'023U) << "nothing was changed";
  {
    auto v = vector<record<24>>::open_plain(path(), *store);
    v.push_back(items[0]);
  }
  EXPECT_EQ(fs::file_size(path()), 24'024U);
  EXPECT_EQ(content<record<24>>().back(), items[0]);
}

TEST_F(vectors_in_files, hold_what_they_say_where_pages_have_gone_and_come_again) {
  using v_of = vector<std::uint64_t>;
  constexpr std::uint64_t page = 512;  // items
  auto const check = [&](v_of& v, std::uint64_t kept) {
    std::vector<std::uint64_t> const told(v.cbegin(), v.cend());
    EXPECT_EQ(told.size(), 4000U);
    auto const new_pages = told.begin() + static_cast<std::ptrdiff_t>(round_up(kept, page));
    EXPECT_EQ(std::count(new_pages, told.end(), 0U), told.end() - new_pages);
    v.flush();
    EXPECT_EQ(content<std::uint64_t>(), told);
  };
  for (std::uint64_t const kept : {0U, 100U, 512U, 3000U}) {
    SCOPED_TRACE(kept);
    auto const items = write_file<std::uint64_t>(5000);
    auto v = v_of::open_plain(path(), *store, io::access::read_write,
                              {.page_bytes = 4_KiB, .cache_pages = 4});
    v.resize(kept);
    v.resize(4000);
    check(v, kept);
    for (std::uint64_t i = 0; i < kept; ++i) ASSERT_EQ(std::as_const(v)[i], items[i]);
    v.resize(kept);  // and pages that were never flushed
    while (v.size() < 6000) v.push_back(7);
    v.resize(kept);
    v.resize(4000);
    check(v, kept);
    v.close();
    EXPECT_EQ(v_of::open_plain(path(), *store).size(), 4000U);
  }
}

TEST_F(vectors_in_files, grow_again_after_they_were_cut_by_a_flush) {
  page_options const options{.page_bytes = 4_KiB, .cache_pages = 4};
  constexpr std::uint64_t page = 512;  // items
  auto v = vector<std::uint64_t>::create_plain(path(), *store, options);
  auto const visit_other_pages = [&] {
    for (std::uint64_t i = 0; i < v.size(); i += page) (void)v[i];
  };
  v.reserve(40 * page);
  v.resize(40 * page, 1);
  v.clear();
  v.flush();
  EXPECT_EQ(fs::file_size(path()), 0U);
  v.resize(40 * page, 7);
  EXPECT_EQ(std::count(v.cbegin(), v.cend(), 7U), static_cast<std::ptrdiff_t>(40 * page));
  // The page that is kept at the end, and has left the cache.
  v.push_back(8);
  v.pop_back();
  v.flush();
  visit_other_pages();
  v.resize(v.size() + 1, 9);
  v.push_back(10);
  visit_other_pages();
  EXPECT_EQ(v[v.size() - 2], 9U);
  v.close();
  EXPECT_EQ(fs::file_size(path()), (40 * page + 2) * sizeof(std::uint64_t));
  EXPECT_EQ(content<std::uint64_t>().back(), 10U);
}

TEST_F(vectors_in_files, keep_their_file_when_a_list_is_assigned) {
  auto v = vector<std::uint64_t>::create_plain(path(), *store);
  v.resize(1000, 1);
  v = {1, 2, 3};
  v.close();
  EXPECT_EQ(content<std::uint64_t>(), (std::vector<std::uint64_t>{1, 2, 3}));
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
  auto v = numbers::open_plain(path(), *store, io::access::read_only);
  expect_error(EACCES, [&] { v[3] = 4; });
  expect_error(EACCES, [&] { v.push_back(4); });
  expect_error(EACCES, [&] { v.clear(); });
  expect_error(EACCES, [&] { v.reserve(1); });
  expect_error(EACCES, [&] { v.pop_back(); });
  v.flush();
  EXPECT_EQ(std::as_const(v)[3], items[3]);
  expect_error(EEXIST, [&] { numbers::create_plain(path(), *store); });
  v.close();
  EXPECT_EQ(content<std::uint64_t>(), items);
  fs::remove(path());
  expect_error(ENOENT, [&] { numbers::open_plain(path(), *store); });
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(vectors_in_files, may_be_empty) {
  { auto const v = vector<int>::create_plain(path(), *store); }
  EXPECT_EQ(fs::file_size(path()), 0U);
  auto v = vector<int>::open_plain(path(), *store);
  EXPECT_TRUE(v.empty());
  v.push_back(1);
  v.clear();
  v.close();
  EXPECT_EQ(fs::file_size(path()), 0U);
}

TEST_F(vectors_in_files, have_names_that_outlive_a_power_failure) {
  using item_beside_direct_io = record<4097>;
  auto const names_synced_by = [](auto const& action) {
    int const before = synced_directories;
    action();
    return synced_directories - before;
  };
  EXPECT_EQ(names_synced_by([&] { vector<int>::create_plain(path(), *store); }), 1);
  EXPECT_EQ(names_synced_by([&] { vector<int>::open_plain(path(), *store).push_back(1); }), 0);
  EXPECT_EQ(
      names_synced_by([&] { vector<item_beside_direct_io>::create_plain(path("others"), *store); }),
      1);
  EXPECT_EQ(names_synced_by([&] { vector<int>::create(path("kept"), *store); }), 1);
}

TEST_F(vectors_in_files, that_are_kept_are_there_again) {
  using numbers = vector<std::uint64_t>;
  page_options const options{.page_bytes = 4_KiB, .cache_pages = 4};
  std::vector<std::uint64_t> model;
  {
    auto v = numbers::create(path(), *store, options);
    EXPECT_TRUE(v.was_closed());
    for (std::uint64_t i = 0; i < 20'000; ++i) v.push_back(i);
    v.flush();
    for (std::uint64_t i = 0; i < 20'000; i += 7) v[i] = 0;  // elsewhere than what was flushed
    fs::copy_file(path(), path() + ".copy");                 // what a crash would leave now
    auto const meanwhile = numbers::open(path() + ".copy", *store, io::access::read_only);
    EXPECT_FALSE(meanwhile.was_closed());
    ASSERT_EQ(meanwhile.size(), 20'000U);
    for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_EQ(meanwhile[i], i);
    v.resize(19'000);
    model.assign(v.cbegin(), v.cend());
  }
  {
    auto v = numbers::open(path(), *store, io::access::read_write, options);
    EXPECT_TRUE(v.was_closed());
    ASSERT_EQ(v.size(), model.size());
    EXPECT_TRUE(std::equal(v.cbegin(), v.cend(), model.begin()));
    v.clear();
    v.close();
  }
  EXPECT_EQ(fs::file_size(path()), 8_KiB) << "shrinking frees the space of pages";
  EXPECT_THROW(vector<int>::open(path(), *store), format_error);
  EXPECT_THROW(numbers::create(path(), *store), io_error);
  fs::remove(path());
  auto const items = write_file<std::uint64_t>(10'000);
  EXPECT_THROW(numbers::open(path(), *store), format_error);
  EXPECT_EQ(content<std::uint64_t>(), items);
}

TEST_F(vectors_in_files, that_may_only_be_read_keep_their_size) {
  using numbers = vector<std::uint64_t>;
  auto const items = write_file<std::uint64_t>(1000);
  page_options const options{.page_bytes = 4_KiB, .cache_pages = 4};
  numbers::create(path("kept"), *store, options).resize(1000);
  auto const expect_refused = [](numbers& v, auto const& action) {
    try {
      action();
      ADD_FAILURE() << "done";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), EACCES);
    }
    EXPECT_EQ(v.size(), 1000U);
  };
  auto plain = numbers::open_plain(path(), *store, io::access::read_only, options);
  auto kept = numbers::open(path("kept"), *store, io::access::read_only, options);
  for (auto* const v : {&plain, &kept}) {
    expect_refused(*v, [&] { v->pop_back(); });
    expect_refused(*v, [&] { v->pop_back(); });
    expect_refused(*v, [&] { v->resize(999); });
    expect_refused(*v, [&] { v->resize(1001); });
    expect_refused(*v, [&] { v->push_back(1); });
  }
  EXPECT_TRUE(std::equal(plain.cbegin(), plain.cend(), items.begin(), items.end()));
}

/// What vectors in files consist of, on a disk that is full, or says so at random.
TEST_F(vectors_in_files, are_open_to_one_that_changes_them_or_to_many_that_read) {
  using numbers = vector<std::uint64_t>;
  fs::create_directory(directory / "linked");
  auto const link = path("linked/items");
  /// Each of several, at the same time, as each waits a second before it is refused.
  auto const expect_refused = [&](auto const&... opening) {
    auto const is_refused = [](auto const& open) {
      try {
        open();
        return false;
      } catch (io_error const& e) {
        return e.code().value() == EBUSY;
      }
    };
    std::vector<std::future<bool>> all;
    (all.push_back(std::async(std::launch::async, [&] { return is_refused(opening); })), ...);
    for (auto& each : all) EXPECT_TRUE(each.get());
  };
  {
    auto v = numbers::create_plain(path(), *store);
    v.push_back(1);
    fs::create_hard_link(path(), link);
    expect_refused([&] { numbers::open_plain(path(), *store); },
                   [&] { numbers::open_plain(link, *store); },
                   [&] { numbers::open_plain(link, *store, io::access::read_only); },
                   [&] { vector<record<3001>>::open_plain(path(), *store); });
    v.push_back(2);
  }
  {
    auto const one = numbers::open_plain(path(), *store, io::access::read_only);
    auto const another = numbers::open_plain(link, *store, io::access::read_only);
    EXPECT_EQ(one, another);
    EXPECT_EQ(one.size(), 2U);
    expect_refused([&] { numbers::open_plain(path(), *store); });
  }
  // Of items with which direct I/O does not go the file is opened twice, by one.
  auto odd = vector<record<3001>>::open_plain(path(), *store);
  odd.push_back({});
  odd.close();
  EXPECT_EQ(fs::file_size(link), 3001U);
}

struct vectors_in_files_on_a_full_disk : testing::Test {
  using numbers = detail::paged_items<std::uint64_t>;
  using model = std::vector<std::uint64_t>;

  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};
  io::file* beneath = nullptr;  // the faults
  int refused = 0;

  io::file_ptr make_file(std::uint64_t capacity_bytes) {
    auto made = io::make_memory_file("full", capacity_bytes);
    beneath = made.get();
    return std::make_unique<io::faulty_file>(std::move(made), plan);
  }
  std::vector<std::byte> file_bytes() const {
    std::vector<std::byte> bytes(beneath->size_bytes());
    if (!bytes.empty()) beneath->read(0, bytes)->wait();
    return bytes;
  }
  std::unique_ptr<numbers> items_in(std::unique_ptr<detail::page_space> space,
                                    std::size_t page_bytes, std::uint64_t count) {
    page_options const small{.cache_pages = 4, .spare_pages = 1};
    auto cache = detail::cache_of_pages(store, space->device(), page_bytes, small, "vector");
    auto* const in_file = space.get();
    return std::make_unique<numbers>(detail::pages_of_file{
        std::make_shared<detail::page_row>(store, std::move(space), std::move(cache), page_bytes),
        in_file, count});
  }
  std::unique_ptr<numbers> plain(io::file_ptr file) {
    std::uint64_t const count = file->size_bytes() / sizeof(std::uint64_t);
    return items_in(
        std::make_unique<detail::file_pages>(std::move(file), io::access::read_write, 64), 64,
        count);
  }
  std::unique_ptr<numbers> kept(std::shared_ptr<detail::kept_file> const& file) {
    std::uint64_t bytes = 0;
    auto const state = file->state();
    std::memcpy(&bytes, state.data(), std::min(state.size(), sizeof bytes));
    auto space = std::make_unique<detail::kept_pages>(file, 0);
    auto const page_bytes = space->page_bytes();
    return items_in(std::move(space), page_bytes, bytes / sizeof(std::uint64_t));
  }
  std::unique_ptr<numbers> create(io::file_ptr file) {
    return kept(detail::kept_file::create(store, std::move(file), kind, {64}));
  }
  /// What would be there if the process ended now.
  model survivors() {
    auto copy = io::make_memory_file("copy");
    copy->write(0, file_bytes())->wait();
    return content(
        *kept(detail::kept_file::open(store, std::move(copy), io::access::read_only, kind)));
  }
  static model content(numbers const& items) {
    model found;
    for (std::uint64_t i = 0; i < items.size(); ++i) found.push_back(items.value(i));
    return found;
  }

  /// Whether there was room.
  template <typename Action>
  bool attempt(Action const& action) {
    try {
      action();
      return true;
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), ENOSPC);
      ++refused;
      return false;
    }
  }
  template <typename Action>
  void persist(Action const& action) {
    while (!attempt(action)) {
    }
  }
  /// One random operation on both, if there is room.
  void step(numbers& items, model& expected, std::mt19937_64& random) {
    auto const item = random();
    auto const index = expected.empty() ? 0 : random() % expected.size();
    auto const action = random() % 1000;
    if (action < 600 || expected.empty()) {
      if (attempt([&] { items.append(item); })) expected.push_back(item);
    } else if (action < 700) {
      if (attempt([&] { items.at(index) = item; })) expected[index] = item;
    } else if (action < 800) {
      attempt([&] { ASSERT_EQ(items.value(index), expected[index]); });
    } else if (action < 998) {
      if (attempt([&] { items.remove_last(); })) expected.pop_back();
    } else if (action < 999) {
      if (attempt([&] { items.resize(index); })) expected.resize(index);
    } else {
      attempt([&] { items.resize(expected.size() + 1000); });
      persist([&] { items.resize(expected.size()); });
    }
    ASSERT_EQ(items.size(), expected.size());
  }
  void make_faulty(std::uint64_t seed) {
    plan = std::make_shared<io::fault_plan>(
        io::fault_odds{.seed = seed, .fail = 0.01, .error_number = ENOSPC});
    for (std::uint64_t i = 5; i < 10'000; i += 3 + seed % 20)
      for (auto const where : {io::fault_point::allocate, io::fault_point::resize})
        plan->script(where, i, io::fault::fail(ENOSPC));
  }

  static constexpr detail::kept_kind kind{"vector", {sizeof(std::uint64_t)}};
};

TEST_F(vectors_in_files_on_a_full_disk, that_are_plain_use_all_of_it_and_stay_as_they_are) {
  auto v = plain(make_file(64 * 20));
  std::uint64_t pushed = 0;
  while (attempt([&] { v->append(pushed); })) ++pushed;
  EXPECT_EQ(pushed, 160U);
  EXPECT_FALSE(attempt([&] { v->append(7); }));
  v->resize(1000);  // as it is not a file of a disk that could be asked
  EXPECT_FALSE(attempt([&] { v->at(160) = 7; }));
  v->resize(160);
  for (std::uint64_t i = 0; i < 160; ++i) ASSERT_EQ(v->value(i), i);
  v->remove_last();
  v->append(159);
  v->flush();
  auto const bytes = file_bytes();
  ASSERT_EQ(bytes.size(), 160 * sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < 160; ++i) {
    std::uint64_t item = 0;
    std::memcpy(&item, bytes.data() + i * sizeof item, sizeof item);
    ASSERT_EQ(item, i);
  }
}

TEST_F(vectors_in_files_on_a_full_disk, that_are_plain_lose_nothing_when_it_says_so_at_random) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  make_faulty(seed);
  auto v = plain(make_file(64 * 80));
  model expected;
  for (int i = 0; i < scratch::operations(200'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(step(*v, expected, random));
    if (i % 100 != 0) continue;
    persist([&] { v->flush(); });
    ASSERT_EQ(file_bytes().size(), expected.size() * sizeof(std::uint64_t));
  }
  EXPECT_GT(refused, 0);
  persist([&] { v->close(); });
  auto const bytes = file_bytes();
  model found(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(found.data(), bytes.data(), bytes.size());
  EXPECT_EQ(found, expected);
}

TEST_F(vectors_in_files_on_a_full_disk, that_are_kept_hold_what_was_flushed_last) {
  auto v = create(make_file(8_KiB + 64 * 40));
  std::uint64_t pushed = 0;
  for (; pushed < 100; ++pushed) v->append(pushed);
  v->flush();
  auto const flushed = survivors();
  EXPECT_EQ(flushed.size(), 100U);
  while (attempt([&] { v->append(pushed); })) ++pushed;
  EXPECT_GE(pushed, 8 * 30U);  // of 40 pages, those flushed and their index included
  EXPECT_EQ(v->size(), pushed);
  EXPECT_FALSE(attempt([&] { v->at(3) = 0; })) << "changed pages need other places";
  EXPECT_FALSE(attempt([&] { v->flush(); })) << "so does the index";
  EXPECT_EQ(survivors(), flushed);
  for (std::uint64_t i = 0; i < pushed; ++i) ASSERT_EQ(v->value(i), i);
  while (pushed > 180) {
    v->remove_last();
    --pushed;
  }
  v->flush();
  v->at(3) = 3;
  v->flush();
  EXPECT_EQ(survivors().size(), 180U);
  v->close();
  EXPECT_EQ(survivors(), content(*v));
}

TEST_F(vectors_in_files_on_a_full_disk, that_are_kept_lose_nothing_when_it_says_so_at_random) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  make_faulty(seed);
  std::unique_ptr<numbers> v;
  persist([&] { v = create(make_file(24_KiB)); });
  model expected;
  std::vector<model> flushed{
      {}};  // one of them is in the file, the last one if its flush() said so
  int flushes = 0;
  for (int i = 0; i < scratch::operations(200'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(step(*v, expected, random));
    if (i % 100 != 0) continue;
    if (attempt([&] { v->flush(); })) {
      flushed.clear();
      ++flushes;
    }
    flushed.push_back(expected);
    ASSERT_NE(std::ranges::find(flushed, survivors()), flushed.end());
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(flushes, 10);
  for (std::uint64_t i = 0; i < expected.size(); ++i)
    persist([&] { ASSERT_EQ(v->value(i), expected[i]); });
}

}  // namespace
}  // namespace outsize
