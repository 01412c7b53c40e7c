// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of containers of all kinds. They are the same to all back-ends, with direct I/O or without:
// what one has made others open, change and leave to the next. Where one cannot be made none is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/kept_file.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;

storage_options files_moved_by(io::backend kind) {
  return {
      .disks = {disk_options(
          "none", [](io::request_queue&) -> io::file_ptr { return io::make_memory_file("none"); })},
      .memory = 16_MiB,
      .threads = 1,
      .backend = kind};
}

/// A storage for each back-end that there is here.
std::vector<std::unique_ptr<storage>> storages() {
  std::vector<std::unique_ptr<storage>> all;
  for (auto const kind : {io::backend::uring, io::backend::threads, io::backend::mmap}) try {
      all.push_back(std::make_unique<storage>(files_moved_by(kind)));
    } catch (io_error const&) {               // the kernel refuses it
    } catch (std::invalid_argument const&) {  // not built in
    }
  return all;
}

struct kept_vector {
  using container = vector<number>;
  static inline vector_options const options{.page_bytes = 512};
  static container create(std::string const& path, storage& store) {
    return container::create_kept(path, store, options);
  }
  static container open(std::string const& path, storage& store) {
    return container::open_kept(path, store);
  }
  static void add(container& to, number i) { to.push_back(i); }
  static bool has(container const& in, number i) { return in[i] == i; }
};

/// A map or hash table from numbers to themselves, in short pages.
template <typename Container, auto const& Options>
struct kept_by_key {
  using container = Container;
  static container create(std::string const& path, storage& store) {
    return container::create(path, store, Options);
  }
  static container open(std::string const& path, storage& store) {
    return container::open(path, store);
  }
  static void add(container& to, number i) { to.insert({i, i}); }
  static bool has(container const& in, number i) { return in.contains(i); }
};

map_options const short_leaves{.leaf_bytes = 512, .node_bytes = 512};
unordered_map_options const short_pages{.page_bytes = 512};
using kept_map = kept_by_key<map<number, number>, short_leaves>;
using kept_unordered_map = kept_by_key<unordered_map<number, number>, short_pages>;

template <typename Kept>
struct kept_containers : testing::Test {
  scratch::directory folder;

  static void add_some(typename Kept::container& to) {
    number const before = to.size();
    for (number i = before; i < before + 700; ++i) Kept::add(to, i);
    to.flush();
    Kept::add(to, before + 700);
    to.close();
  }
};

using kinds = testing::Types<kept_vector, kept_map, kept_unordered_map>;
TYPED_TEST_SUITE(kept_containers, kinds);

TYPED_TEST(kept_containers, are_opened_and_changed_by_any_back_end) {
  auto const stores = storages();
  ASSERT_GT(stores.size(), 1U);
  for (std::size_t first = 0; first < stores.size(); ++first) {
    SCOPED_TRACE(stores[first]->file_queue().name());
    auto const path = this->folder.path("made by " + std::to_string(first));
    auto made = TypeParam::create(path, *stores[first]);
    this->add_some(made);
    number count = 701;
    for (std::size_t i = 0; i < 2 * stores.size(); ++i, count += 701) {
      auto next = TypeParam::open(path, *stores[(first + 1 + i / 2) % stores.size()]);
      ASSERT_TRUE(next.was_closed());
      ASSERT_EQ(next.size(), count);
      for (number key = 0; key < count; ++key) ASSERT_TRUE(TypeParam::has(next, key));
      this->add_some(next);
    }
  }
}

// As they may be in a file that was made where requests need no alignment.
using kept_maps = kept_containers<kept_map>;

TEST_F(kept_maps, of_pages_at_any_byte_are_opened_without_direct_io) {
  auto const stores = storages();
  for (auto const& store : stores) {
    auto const path = folder.path(store->file_queue().name());
    auto file = io::open_file(path, store->file_queue(),
                              {.mode = io::access::read_write, .direct = false, .create = true});
    auto made = map<number, number>::create(*store, std::move(file), short_leaves);
    add_some(made);
    number count = 701;
    for (auto const& other : stores) {
      auto next = kept_map::open(path, *other);
      ASSERT_EQ(next.size(), count);
      for (number key = 0; key < count; ++key) ASSERT_TRUE(next.contains(key));
      add_some(next);
      count += 701;
    }
  }
}

TEST(kept_files_of_other_alignments, are_refused_where_they_cannot_be_opened_again) {
  storage store(files_moved_by(io::backend::threads));
  scratch::directory folder;
  auto const path = folder.path("odd");
  detail::kept_kind const kind{"bag", {8}};
  auto const opened = [&](bool direct) {
    return io::open_file(path, store.file_queue(),
                         {.mode = io::access::read_write, .direct = direct, .create = true});
  };
  detail::kept_file::create(store, opened(false), kind, {13})->close({});
  if (opened(true)->alignment_bytes() == 1) GTEST_SKIP() << "no direct I/O here";
  try {
    detail::kept_file::open(store, opened(true), io::access::read_only, kind);
    ADD_FAILURE() << "opened";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EINVAL);
    EXPECT_EQ(e.path(), path);
  }
  EXPECT_TRUE(detail::kept_file::open(store, path, io::access::read_only, kind)->was_closed());
}

/// Takes all memory that the storage has, but some.
grant all_memory_but(storage& store, std::uint64_t bytes) {
  return store.memory().take(store.memory().free_bytes() - bytes, "others");
}

TYPED_TEST(kept_containers, that_cannot_be_made_leave_no_file) {
  storage store(files_moved_by(io::backend::automatic));
  auto const path = this->folder.path("new");
  for (std::uint64_t const bytes : {4_KiB, 68_KiB, 72_KiB}) {  // for no index, and for no cache
    auto const others = all_memory_but(store, bytes);
    EXPECT_THROW(TypeParam::create(path, store), budget_error);
    EXPECT_TRUE(this->folder.names().empty());
  }
  auto made = TypeParam::create(path, store);
  TypeParam::add(made, 0);
  made.close();
  EXPECT_THROW(TypeParam::create(path, store), io_error);
  {
    auto const others = all_memory_but(store, 4_KiB);
    EXPECT_THROW(TypeParam::open(path, store), budget_error);
  }
  EXPECT_EQ(TypeParam::open(path, store).size(), 1U);
}

TEST(vectors_in_plain_files, that_cannot_be_made_leave_no_file) {
  storage store(files_moved_by(io::backend::automatic));
  scratch::directory folder;
  {
    auto const others = all_memory_but(store, 4_KiB);
    EXPECT_THROW(vector<number>::create(folder.path("new"), store), budget_error);
    EXPECT_TRUE(folder.names().empty());
  }
  vector<number>::create(folder.path("new"), store).push_back(1);
  EXPECT_THROW(vector<number>::create(folder.path("new"), store), io_error);
  EXPECT_EQ(vector<number>::open(folder.path("new"), store).size(), 1U);
}

}  // namespace
}  // namespace outsize
