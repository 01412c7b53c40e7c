// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of containers of all kinds. They are the same to all back-ends, with direct I/O or without:
// what one has made others open, change and leave to the next. Where one cannot be made none is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/testing/kept_image.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct named;

}  // namespace

template <>
inline constexpr std::string_view kept_name<named> = "a name";

namespace {

using number = std::uint64_t;

storage_options files_moved_by(io::backend kind) {
  return {
      .disks = {disk_options(
          "none", [](io::request_queue&) -> io::file_ptr { return io::make_memory_file("none"); })},
      .memory_bytes = 16_MiB,
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
  static inline page_options const options{.page_bytes = 512};
  static constexpr std::span state = scratch::kept_vector_fields;
  static container create(std::string const& path, storage& store) {
    return container::create(path, store, options);
  }
  static container open(std::string const& path, storage& store) {
    return container::open(path, store);
  }
  static void add(container& to, number i) { to.push_back(i); }
  static bool has_first(container& in, number count) {
    for (number i = 0; i < count; ++i)
      if (in[i] != i) return false;
    return true;
  }
};

struct kept_priority_queue {
  using container = priority_queue<number, std::greater<>>;
  static inline priority_queue_options const options{.memory_bytes = 256_KiB, .block_bytes = 4096};
  static constexpr std::span state = scratch::kept_queue_fields;
  static container create(std::string const& path, storage& store) {
    return container::create(path, store, options);
  }
  static container open(std::string const& path, storage& store) {
    return container::open(path, store, options);
  }
  static void add(container& to, number i) { to.push(i); }
  static bool has_first(container& in, number count) {
    std::vector<number> all;
    for (; !in.empty(); in.pop()) all.push_back(in.top());
    for (number const i : all) in.push(i);
    for (number i = 0; i < count; ++i)
      if (all[i] != i) return false;
    return true;
  }
};

/// A map or hash table from numbers to themselves, in short pages.
template <typename Container, auto const& Options>
struct kept_by_key {
  using container = Container;
  static constexpr bool is_tree = !requires(Container& c) { c.bucket_count(); };
  static constexpr auto state = [] {
    if constexpr (is_tree)
      return std::span(scratch::kept_tree_fields);
    else
      return std::span(scratch::kept_table_fields);
  }();
  static container create(std::string const& path, storage& store) {
    return container::create(path, store, Options);
  }
  static container open(std::string const& path, storage& store) {
    return container::open(path, store);
  }
  static void add(container& to, number i) { to.insert({i, i}); }
  static bool has_first(container& in, number count) {
    for (number i = 0; i < count; ++i)
      if (!in.contains(i)) return false;
    return true;
  }
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

using kinds = testing::Types<kept_vector, kept_map, kept_unordered_map, kept_priority_queue>;
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
      ASSERT_TRUE(TypeParam::has_first(next, count));
      this->add_some(next);
    }
  }
}

/// Values that a field can have of no sound file, though the checksums fit.
std::vector<number> impossible_values(std::string_view field) {
  constexpr number huge = number{1} << 61;
  if (field == "is_closed") return {2};
  if (field == "sequence") return {UINT64_MAX};
  if (field == "used_bytes") return {0, 4096};
  if (field == "index_offset") return {0, 4096, huge, UINT64_MAX - 4095};
  if (field == "index_bytes") return {huge, UINT64_MAX, UINT64_MAX - 4095};
  if (field == "row_count") return {0, 3, UINT32_MAX};
  if (field == "state_bytes") return {0, 1, 257, UINT32_MAX};
  if (field.starts_with("page_bytes")) return {0, 1, huge, UINT64_MAX};
  if (field.starts_with("page_count")) return {100'000, huge, 3 * huge, UINT64_MAX};
  if (field == "size") return {100'000'000, UINT64_MAX};
  if (field == "height") return {7, 31, 32, 40, UINT64_MAX};
  if (field == "base") return {0, 100'000'000, number{1} << 63};
  if (field == "count") return {0, 1, UINT64_MAX};
  return {100'000'000, UINT64_MAX, UINT64_MAX - 1};  // numbers of pages
}

TYPED_TEST(kept_containers, of_which_a_field_cannot_be_are_refused_by_its_name) {
  storage store(files_moved_by(io::backend::threads));
  auto const path = this->folder.path("sound");
  {
    auto made = TypeParam::create(path, store);
    this->add_some(made);
  }
  scratch::kept_image const sound(scratch::read_file(path));
  std::size_t const rows = sound.get({"row_count", 80, 4});
  std::vector<scratch::kept_field> fields(std::begin(scratch::kept_fields),
                                          std::end(scratch::kept_fields));
  fields.insert(fields.end(), TypeParam::state.begin(), TypeParam::state.end());
  for (auto const& field : fields) {
    if (rows == 1 && field.name.ends_with("[1]")) continue;
    for (number const value : impossible_values(field.name)) {
      SCOPED_TRACE(std::string(field.name) + " " + std::to_string(value));
      auto damaged = sound;
      damaged.set(field, value);
      damaged.repair();
      scratch::write_file(path, damaged.text());
      try {
        auto const opened = TypeParam::open(path, store);
        ADD_FAILURE() << "opened";
      } catch (format_error const& e) {
        EXPECT_THAT(e.what(), testing::StartsWith(path + ": damaged: " + std::string(field.name)));
      }
    }
  }
  scratch::write_file(path, sound.text());
  EXPECT_EQ(TypeParam::open(path, store).size(), 701U);
}

// ---- of which types they are ----

struct account {
  number id, cents;
};
struct renamed {
  number id, cents;
};
struct half {
  std::uint32_t words[4];
};
struct by_cents {
  bool operator()(account const& a, account const& b) const { return a.cents < b.cents; }
};
struct by_id {
  bool operator()(account const& a, account const& b) const { return a.id < b.id; }
};
struct named {
  number id, cents;
};
struct number_of_own {
  number value;
};

struct types_of_kept_files : testing::Test {
  /// What opening says, or "".
  template <typename Open>
  static std::string refusal(Open const& open) {
    try {
      open();
    } catch (format_error const& e) {
      return e.what();
    }
    return "";
  }
  template <typename Container>
  std::string opening() {
    return refusal([&] { Container::open(path, store); });
  }
  template <typename T>
  std::string opening_vector() {
    return refusal([&] { vector<T>::open(path, store); });
  }
  /// The file, as an earlier version would have made it.
  void forget_types() {
    scratch::kept_image file(scratch::read_file(path));
    file.forget_types();
    scratch::write_file(path, file.text());
  }

  storage store{files_moved_by(io::backend::threads)};
  scratch::directory folder;
  std::string const path = folder.path("file");
};

TEST_F(types_of_kept_files, of_numbers_are_told_apart) {
  map<number, number>::create(path, store).insert({{1, 1}, {2, 2}});
  EXPECT_EQ((opening<map<number, number>>()), "");
  EXPECT_EQ((opening<map<double, double>>()), path + ": has keys 'u64', not 'f64'");
  EXPECT_EQ((opening<map<number, std::int64_t>>()), path + ": has values 'u64', not 'i64'");
  EXPECT_EQ((opening<map<number, number_of_own>>()), path + ": has values 'u64', not 'class'");
  enum class id : number {};
  EXPECT_EQ((opening<map<id, number>>()), "");
  forget_types();
  EXPECT_EQ((opening<map<double, double>>()), "") << "an earlier version did not say";
  map<number, number>::open(path, store).insert({3, 3});
  EXPECT_EQ((opening<map<double, double>>()), path + ": has keys 'u64', not 'f64'");
}

TEST_F(types_of_kept_files, of_hash_tables_and_vectors_are_told_apart) {
  unordered_map<number, number>::create(path, store).insert({1, 1});
  EXPECT_EQ((opening<unordered_map<number, number>>()), "");
  EXPECT_EQ((opening<unordered_map<number, double>>()), path + ": has values 'u64', not 'f64'");
  struct mine : std::equal_to<number> {};
  EXPECT_EQ((opening<unordered_map<number, number, std::hash<number>, mine>>()), "");
  EXPECT_NE((opening<map<number, number>>()), "");
  std::filesystem::remove(path);
  vector<number>::create(path, store).push_back(1);
  EXPECT_EQ(opening_vector<number>(), "");
  EXPECT_EQ(opening_vector<double>(), path + ": has items 'u64', not 'f64'");
}

TEST_F(types_of_kept_files, of_classes_are_told_by_names_and_alignment) {
  vector<account>::create(path, store).push_back({1, 2});
  EXPECT_EQ(opening_vector<renamed>(), "");
  EXPECT_EQ(opening_vector<half>(), path + ": has items 'class' aligned to 8 bytes, not to 4");
  EXPECT_EQ(opening_vector<named>(), "") << "a name that was given later";
  EXPECT_EQ(opening_vector<account>(), "");
  vector<named>::open(path, store).push_back({3, 4});
  EXPECT_EQ(opening_vector<named>(), "");
  EXPECT_EQ(opening_vector<account>(), path + ": has items 'a name', not 'class'");
}

TEST_F(types_of_kept_files, of_orders_are_told_apart) {
  using descending = set<number, std::greater<>>;
  descending::create(path, store).insert({1, 2, 3});
  EXPECT_EQ((opening<set<number, std::greater<number>>>()), "");
  EXPECT_EQ((opening<set<number>>()), path + ": has the order 'greater', not 'less'");
  EXPECT_EQ((opening<multiset<number>>()),
            path + ": holds a set of 8 bytes, not a multiset of 8 bytes");
  forget_types();
  auto const other = path + ": its keys are in another order than that of this comparison";
  EXPECT_EQ((opening<set<number>>()), other);
  EXPECT_EQ((opening<descending>()), "");
  std::filesystem::remove(path);
  set<account, by_id>::create(path, store).insert({{1, 9}, {2, 5}, {3, 7}});
  EXPECT_EQ((opening<set<account, by_cents>>()), other);
  EXPECT_EQ((opening<set<account, by_id>>()), "");
  EXPECT_EQ((set<account, by_id>::open(path, store).size()), 3U);
}

/// A file that is refused is not changed: not even noted as closed.
TEST_F(types_of_kept_files, are_refused_before_anything_is_written) {
  {
    auto made = set<number, std::greater<>>::create(path, store);
    made.insert({1, 2, 3});
    made.flush();
    made.insert(4);
    scratch::write_file(folder.path("copy"), scratch::read_file(path));
  }
  scratch::write_file(path, scratch::read_file(folder.path("copy")));
  forget_types();
  auto const before = scratch::read_file(path);
  EXPECT_NE((opening<set<number>>()), "");
  EXPECT_NE(opening_vector<number>(), "");
  EXPECT_EQ(scratch::read_file(path), before);
}

TEST_F(types_of_kept_files, of_plain_ones_are_told_from_them) {
  map<number, number>::create(path, store).insert({1, 1});
  auto const open_plain = [&] { vector<number>::open_plain(path, store, io::access::read_only); };
  EXPECT_EQ(refusal(open_plain), path +
                                     ": holds a map of 8 + 8 bytes, not plain items: open it "
                                     "with map::open");
  scratch::kept_image damaged(scratch::read_file(path));
  damaged.set(2000, 1);
  damaged.set(16, 0);
  scratch::write_file(path, damaged.text());
  EXPECT_NE(refusal(open_plain), "") << "that it is damaged makes it no plain file";
  std::filesystem::remove(path);
  vector<number>::create(path, store).push_back(1);
  EXPECT_THAT(refusal(open_plain), testing::EndsWith("open it with vector::open"));
  scratch::write_file(path, "outsize\n" + std::string(20'000, 'x'));
  EXPECT_EQ(refusal(open_plain), "") << "a text that begins so";
  EXPECT_THAT(opening_vector<number>(), testing::HasSubstr("no header fits its checksum"));
  scratch::write_file(path, std::string(20'000, 'x'));
  EXPECT_THAT(opening_vector<number>(), testing::HasSubstr("not a container of outsize"));
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
    EXPECT_THROW(vector<number>::create_plain(folder.path("new"), store), budget_error);
    EXPECT_TRUE(folder.names().empty());
  }
  vector<number>::create_plain(folder.path("new"), store).push_back(1);
  EXPECT_THROW(vector<number>::create_plain(folder.path("new"), store), io_error);
  EXPECT_EQ(vector<number>::open_plain(folder.path("new"), store).size(), 1U);
}

}  // namespace
}  // namespace outsize
