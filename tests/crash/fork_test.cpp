// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Processes that fork while the library is at work: what the new process has of it is inert there,
// and the old one goes on as if nothing had happened.

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/block_writer.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/matrix.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/throttled_file.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/page/page_pool.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/testing/forked.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace {

bool is_forked = false;

}  // namespace

/// AddressSanitizer asks it at the end of a process: what a fork leaves alone is not freed.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return is_forked ? 1 : 0; }

namespace outsize {
namespace {

using number = std::uint64_t;
using numbers = std::vector<number>;

/// How a new process ended that called `body`, as if it had returned from main().
int status_of_fork(std::function<void()> const& body) {
  return scratch::status_of_fork([&] {
    is_forked = true;
    body();
  });
}

/// Something that is in use, in a storage.
struct subject {
  virtual ~subject() = default;
  /// To be called in another process: until it is refused.
  virtual void use() = 0;
  /// Goes on, and looks whether all is as it should be.
  virtual void check() = 0;
};

struct place {
  storage& store;
  scratch::directory const& folder;
};

page_options const small_pages{.page_bytes = 4_KiB, .cache_pages = 6, .spare_pages = 1};

/// Numbers 0, 1, 2 … in a container whose pages are changed, and most on disk.
template <typename Container>
struct paged_numbers final : subject {
  Container items;

  explicit paged_numbers(Container empty) : items(std::move(empty)) {
    for (number i = 0; i < 20'000; ++i) items.push_back(i);
  }
  void use() override {
    for (;;)
      for (number i = 0; i < 20'000; ++i) items.push_back(i);
  }
  void check() override {
    for (number i = 20'000; i < 25'000; ++i) items.push_back(i);
    for (number i = 0; i < 25'000; ++i) ASSERT_EQ(std::as_const(items)[i], i);
  }
};

struct plain_file final : subject {
  std::string path;
  storage& store;
  vector<number> items;

  explicit plain_file(place const& in)
      : path(in.folder.path("plain")),
        store(in.store),
        items(vector<number>::create_plain(path, store, small_pages)) {
    for (number i = 0; i < 20'000; ++i) items.push_back(i);
  }
  void use() override { items.close(); }
  void check() override {
    for (number i = 20'000; i < 25'000; ++i) items.push_back(i);
    items.close();
    std::ifstream in(path, std::ios::binary);
    numbers found(30'000);
    in.read(reinterpret_cast<char*>(found.data()), 30'000 * sizeof(number));
    ASSERT_EQ(in.gcount(), static_cast<std::streamsize>(25'000 * sizeof(number)));
    for (number i = 0; i < 25'000; ++i) ASSERT_EQ(found[i], i);
  }
};

/// A map in a file, of which a part was flushed, that is closed and opened while a copy of the
/// process lives on.
template <typename Map>
struct kept_map final : subject {
  std::string path;
  storage& store;
  std::optional<Map> items;

  explicit kept_map(place const& in)
      : path(in.folder.path("kept")), store(in.store), items(Map::create(path, store)) {
    for (number i = 0; i < 5000; ++i) items->insert({i * 7919 % 10'007, i});
    items->flush();
    for (number i = 5000; i < 8000; ++i) items->insert({i * 7919 % 10'007, i});
  }
  void use() override { items->close(); }
  void check() override {
    for (number i = 8000; i < 10'000; ++i) items->insert({i * 7919 % 10'007, i});
    items->close();
    items.reset();
    auto const again = Map::open(path, store);
    ASSERT_EQ(again.size(), 10'000U);
    for (number i = 0; i < 10'000; ++i) ASSERT_EQ(again.get(i * 7919 % 10'007), i);
  }
};

template <typename Map>
struct map_on_disks final : subject {
  Map items;

  explicit map_on_disks(place const& in) : items(in.store) {
    for (number i = 0; i < 5000; ++i) items.insert({i * 7919 % 10'007, i});
  }
  void use() override {
    for (number i = 0;; ++i) items.insert({i, i});
  }
  void check() override {
    for (number i = 5000; i < 10'000; ++i) items.insert({i * 7919 % 10'007, i});
    for (number i = 0; i < 10'000; ++i) ASSERT_EQ(std::as_const(items).get(i * 7919 % 10'007), i);
  }
};

struct matrix_on_disks final : subject {
  page_pool pool;
  matrix<double> items{pool, 100, 100};

  explicit matrix_on_disks(place const& in) : pool(in.store, small_pages) {
    for (number i = 0; i < 100; ++i) items(i, i) = 2;
  }
  void use() override { items = items * items; }
  void check() override {
    matrix<double> const squares = items * items;
    for (number i = 0; i < 100; ++i) ASSERT_EQ(squares(i, i), 4);
  }
};

sort_options const little_memory{.memory_bytes = 512_KiB, .block_bytes = 4_KiB};

/// A sorter that is being filled, or read.
struct half_sorted final : subject {
  static constexpr number count = 300'000;
  sorter<number> items;
  bool is_read;
  number next = 0;

  half_sorted(place const& in, bool reads) : items(in.store, {}, little_memory), is_read(reads) {
    for (; next < count / 2; ++next) items.push(next * 7919 % 300'007);
    if (is_read) {
      begin_to_read();
      read(1000);
    }
  }
  void begin_to_read() {
    items.sort();
    next = 0;
  }
  void read(number until) {
    for (number last = 0; next < until && !items.empty(); ++next, ++items) {
      if (*items < last) throw std::logic_error("out of order");
      last = *items;
    }
  }
  void use() override {
    if (is_read) {
      read(count);
    } else {
      for (number i = 0;; ++i) items.push(i);
    }
  }
  void check() override {
    if (!is_read) begin_to_read();
    read(count);
    EXPECT_EQ(next, count / 2);
  }
};

struct half_emptied final : subject {
  priority_queue<number> items;

  explicit half_emptied(place const& in) : items(in.store, {}, {.memory_bytes = 2_MiB}) {
    for (number i = 0; i < 500'000; ++i) items.push(i * 7919 % 500'009);
    items.pop();
  }
  void use() override {
    while (!items.empty()) items.pop();
  }
  void check() override {
    number last = items.top();
    for (items.pop(); !items.empty(); items.pop()) {
      if (items.top() > last) throw std::logic_error("out of order");
      last = items.top();
    }
  }
};

struct half_filled final : subject {
  priority_queue<number> items;

  explicit half_filled(place const& in) : items(in.store, {}, {.memory_bytes = 2_MiB}) {
    for (number i = 0; i < 100'000; ++i) items.push(i * 7919 % 500'009);
  }
  void use() override {
    for (number i = 0; i < 500'000; ++i) items.push(i);
  }
  void check() override {
    for (number i = 0; i < 100'000; ++i) items.push(i);
    number last = items.top();
    for (number left = 200'000; left > 0; --left, items.pop()) {
      if (items.top() > last) throw std::logic_error("out of order");
      last = items.top();
    }
    if (!items.empty()) throw std::logic_error("too many");
  }
};

struct sorted_words final : subject {
  record_sorter<byte_order> items;

  explicit sorted_words(place const& in) : items(in.store, {}, little_memory) {
    for (number i = 0; i < 30'000; ++i) items.push(std::to_string(i * 7919 % 300'007));
  }
  void use() override {
    for (number i = 0;; ++i) items.push(std::to_string(i));
  }
  void check() override {
    number count = 0;
    std::string last;
    for (items.sort(); !items.empty(); ++items, ++count) {
      ASSERT_LE(last, *items);
      last = *items;
    }
    EXPECT_EQ(count, 30'000U);
  }
};

std::string text_of(std::size_t bytes) {
  std::string text;
  for (number i = 0; text.size() < bytes; ++i) text += std::to_string(i * 7919 % 300'007) + '\n';
  text.resize(bytes);
  return text;
}

/// An output that has not got its name, at a place where something is.
struct output final : subject {
  place in;
  std::string path = in.folder.path("output");
  grant memory = in.store.memory().take(1_MiB, "output");
  buffer window = memory.allocate(64_KiB);
  std::unique_ptr<io::output_stream> stream;

  output(place const& where, io::compression compress) : in(where) {
    scratch::write_file(path, "old");
    stream =
        io::open_output(path, in.store.file_queue(), {.block_bytes = 16_KiB, .compress = compress});
    write();
  }
  void write() {
    auto const text = text_of(40'000);
    auto const room = window.bytes().subspan(stream->lead_bytes(), text.size());
    std::memcpy(room.data(), text.data(), text.size());
    stream->write(room);
    stream->wait(room);
  }
  void use() override { stream->commit(); }
  void check() override {
    EXPECT_EQ(scratch::read_file(path), "old");
    write();
    stream->commit();
    stream.reset();
    grant more = in.store.memory().take(1_MiB, "input");
    auto const back = io::open_input(path, in.store.file_queue(), more,
                                     {.block_bytes = 16_KiB, .decompress = true});
    std::string text(100'000, ' ');
    text.resize(back->read(std::as_writable_bytes(std::span(text))));
    EXPECT_EQ(text, text_of(40'000) + text_of(40'000));
  }
};

/// An input of which a part has been read.
struct input final : subject {
  std::string text = text_of(500'000);
  grant memory;
  std::unique_ptr<io::input_stream> stream;
  std::string found;

  input(place const& in, io::compression compress) : memory(in.store.memory().take(1_MiB, "in")) {
    auto const path = in.folder.path("input");
    auto const out = io::open_output(path, in.store.file_queue(), {.compress = compress});
    buffer window = memory.allocate(text.size());
    std::memcpy(window.data(), text.data(), text.size());
    out->write(window.bytes().first(text.size()));
    out->commit();
    window = {};
    stream = io::open_input(path, in.store.file_queue(), memory,
                            {.block_bytes = 16_KiB, .decompress = true});
    found.resize(text.size());
    stream->read(std::as_writable_bytes(std::span(found).first(100'000)));
  }
  void use() override { stream->next(); }
  void check() override {
    stream->read(std::as_writable_bytes(std::span(found).subspan(100'000)));
    EXPECT_EQ(found, text);
    EXPECT_TRUE(stream->next().empty());
  }
};

/// Blocks under way from a writer's buffers.
struct blocks final : subject {
  place in;
  grant memory = in.store.memory().take(2_MiB, "blocks");
  block::block_list list{in.store, memory, in.store.new_placement()};
  block::block_writer writer{list, memory, {.block_bytes = 16_KiB, .buffer_count = 8}};

  explicit blocks(place const& where) : in(where) { write(16); }
  void write(int count) {
    for (int i = 0; i < count; ++i) {
      std::ranges::fill(writer.buffer(), std::byte{5});
      writer.write(16_KiB);
    }
  }
  void use() override { write(100); }
  void check() override {
    write(16);
    writer.finish();
    EXPECT_EQ(list.size(), 32U);
  }
};

/// A network whose stages wait for what an external thread, this one, gives it.
struct network_at_work final : subject {
  pipeline::network n;
  std::atomic<number> sum{0};
  std::optional<pipeline::ports> feed;

  explicit network_at_work(place const& in) : n(in.store.memory(), {.threads = 2}) {
    auto const pool = n.pool({.buffer_bytes = 4_KiB, .count = 3});
    auto const fed = n.external("feed", {.inputs = {}, .pools = {pool}, .outputs = 1});
    fed[0] | pipeline::stage("add", [this](pipeline::pooled_buffer& b) {
      for (number const i : b.as<number>()) sum += i;
    });
    n.start();
    feed.emplace(n.ports_of(fed.id));
    for (int i = 0; i < 20; ++i) convey();
  }
  void convey() {
    auto b = feed->take();
    b.resize_to<number>(1);
    b.as<number>()[0] = 1;
    feed->convey(std::move(b));
  }
  void use() override {
    EXPECT_THROW(n.finish(), io_error);
    convey();
  }
  void check() override {
    for (int i = 0; i < 20; ++i) convey();
    n.finish();
    EXPECT_EQ(sum, 40U);
  }
};

struct kind {
  char const* name;
  std::function<std::unique_ptr<subject>(place const&)> make;
};

template <typename Subject, typename... More>
kind kind_of(char const* name, More... more) {
  return {name, [more...](place const& in) { return std::make_unique<Subject>(in, more...); }};
}
template <typename Container>
kind paged(char const* name) {
  return {name, [](place const& in) {
            return std::make_unique<paged_numbers<Container>>(Container(in.store, small_pages));
          }};
}

std::vector<kind> kinds() {
  return {paged<vector<number>>("vector"),
          paged<deque<number>>("deque"),
          kind_of<plain_file>("plain file"),
          kind_of<kept_map<map<number, number>>>("kept map"),
          kind_of<kept_map<unordered_map<number, number>>>("kept unordered_map"),
          kind_of<map_on_disks<map<number, number>>>("map"),
          kind_of<map_on_disks<unordered_map<number, number>>>("unordered_map"),
          kind_of<matrix_on_disks>("matrix"),
          kind_of<half_sorted>("sorter being filled", false),
          kind_of<half_sorted>("sorter being read", true),
          kind_of<half_emptied>("priority_queue being emptied"),
          kind_of<half_filled>("priority_queue being filled"),
          kind_of<sorted_words>("record_sorter"),
          kind_of<output>("output", io::compression::none),
          kind_of<output>("compressed output", io::compression::gzip),
          kind_of<input>("input", io::compression::none),
          kind_of<input>("compressed input", io::compression::gzip),
          kind_of<blocks>("blocks"),
          kind_of<network_at_work>("network")};
}

/// Where blocks lie, and how they get there.
std::vector<storage_options> disks(scratch::directory const& folder) {
  std::vector<storage_options> all;
  for (auto const kind : {io::backend::uring, io::backend::threads, io::backend::mmap})
    all.push_back({.disks = {disk_options(folder.path())}, .backend = kind});
  all.push_back({.disks = {disk_options("memory", [](io::request_queue&) {
                   return io::make_memory_file("memory", UINT64_MAX, {.own_thread = true});
                 })}});
  for (auto& each : all) {
    each.memory_bytes = 16_MiB;
    each.threads = 2;
  }
  return all;
}

/// Uses it in a process where it must not be; whether that is said.
bool is_refused(subject& copy) {
  try {
    copy.use();
  } catch (io_error const& e) {
    return e.code().value() == EOWNERDEAD &&
           std::string_view(e.what()).find("another process (before a fork)") != std::string::npos;
  }
  return false;
}

TEST(forks, leave_all_to_the_process_that_made_it) {
  scratch::directory const folder;
  for (auto const& options : disks(folder)) {
    std::unique_ptr<storage> store;
    try {
      store = std::make_unique<storage>(options);
    } catch (std::exception const&) {
      continue;  // a back-end that there is not
    }
    for (kind const& each : kinds()) {
      SCOPED_TRACE(std::string(each.name) + ", " + std::string(store->file_queue().name()));
      scratch::directory const files;
      auto used = each.make({*store, files});
      auto const end = [&] {
        used.reset();
        store.reset();
      };
      EXPECT_EQ(status_of_fork(end), 0);
      EXPECT_EQ(status_of_fork([&] {
                  if (!is_refused(*used)) std::_Exit(3);
                  end();
                }),
                0);
      used->check();
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
}

TEST(forks, leave_requests_under_way_to_the_process_that_issued_them) {
  io::throttled_file slow(io::make_memory_file("slow"),
                          {.latency = std::chrono::milliseconds(200)});
  slow.resize(16'000);
  numbers items(2000, 77);
  std::vector const under_way{
      slow.write(0, std::as_bytes(std::span(items).first(1000))),
      slow.read(8000, std::as_writable_bytes(std::span(items).subspan(1000)))};
  EXPECT_EQ(status_of_fork([&] {
              for (auto const& each : under_way) {
                if (!each->poll() || each->cancel()) std::_Exit(3);
                try {
                  each->wait();
                  std::_Exit(4);
                } catch (io_error const& e) {
                  if (e.code().value() != EOWNERDEAD || e.path() != "slow") std::_Exit(5);
                }
              }
              std::ignore = io::wait_any(under_way);
              slow.~throttled_file();
            }),
            0);
  io::wait_all(under_way);
  EXPECT_EQ(items[1000], 0U);
  slow.read(0, std::as_writable_bytes(std::span(items)))->wait();
  EXPECT_EQ(std::ranges::count(items, 77U), 1000);
}

TEST(forks, at_any_moment_leave_threads_of_the_parent_at_work) {
  scratch::directory const folder;
  auto store = std::make_unique<storage>(storage_options{
      .disks = {disk_options(folder.path())}, .memory_bytes = 32_MiB, .threads = 2});
  std::atomic<bool> is_over{false};
  std::atomic<int> wrong{0};
  auto const work = [&] {
    for (number seed = 1; !is_over; ++seed) {
      vector<number> v(*store, small_pages);
      for (number i = 0; i < 30'000; ++i) v.push_back((seed + i) * 7919 % 300'007);
      sort(v, {}, little_memory);
      if (!std::ranges::is_sorted(std::as_const(v))) ++wrong;
    }
  };
  std::thread one(work), another(work);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(status_of_fork([&] { store.reset(); }), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  is_over = true;
  one.join();
  another.join();
  EXPECT_EQ(wrong, 0);
}

TEST(forks, leave_the_default_storage_alone) {
  auto m = std::make_unique<map<number, number>>();
  for (number i = 0; i < 1000; ++i) m->insert({i, i});
  EXPECT_EQ(status_of_fork([&] { m.reset(); }), 0);
  EXPECT_EQ(status_of_fork([] {
              try {
                vector<number> const refused;
                std::_Exit(3);
              } catch (io_error const&) {
              }
            }),
            0);
  for (number i = 0; i < 1000; ++i) EXPECT_EQ(m->at(i), i);
}

/// It has threads, queues and files of its own.
TEST(forks, let_the_new_process_have_a_storage_of_its_own) {
  scratch::directory const folder;
  storage_options const options{
      .disks = {disk_options(folder.path())}, .memory_bytes = 16_MiB, .threads = 2};
  storage const other(options);
  EXPECT_EQ(status_of_fork([&] {
              storage mine(options);
              half_sorted all({mine, folder}, false);
              all.check();
              kept_map<map<number, number>> kept({mine, folder});
              kept.check();
              if (testing::Test::HasFailure()) std::_Exit(3);
            }),
            0);
}

TEST(forks, do_not_keep_a_file_locked_that_the_parent_has_closed) {
  scratch::directory const folder;
  storage store({.disks = {disk_options(folder.path())}, .memory_bytes = 16_MiB, .threads = 2});
  auto m = map<number, number>::create(folder.path("kept"), store);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  pid_t const child = ::fork();
  if (child == 0) {
    char c = 0;
    ::close(ends[1]);
    std::_Exit(::read(ends[0], &c, 1) == 0 ? 0 : 3);
  }
  m.close();
  m = map<number, number>(store);
  EXPECT_NO_THROW((map<number, number>::open(folder.path("kept"), store)));
  ::close(ends[1]);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
}

/// What programs that are started have open: their descriptors, but for those of the listing.
std::string listed_descriptors() {
  std::FILE* const list = ::popen("ls /proc/self/fd", "re");
  std::string text(1000, ' ');
  text.resize(std::fread(text.data(), 1, text.size(), list));
  EXPECT_EQ(::pclose(list), 0);
  return text;
}

TEST(programs, that_are_started_inherit_nothing) {
  auto const before = listed_descriptors();
  scratch::directory const folder;
  storage store({.disks = {disk_options(folder.path())}, .memory_bytes = 128_MiB, .threads = 2});
  std::vector<std::unique_ptr<subject>> all;
  std::vector<std::unique_ptr<scratch::directory>> folders;
  for (kind const& each : kinds()) {
    if (std::string_view(each.name).find("sort") != std::string_view::npos) continue;
    folders.push_back(std::make_unique<scratch::directory>());
    all.push_back(each.make({store, *folders.back()}));
  }
  EXPECT_EQ(listed_descriptors(), before);
  EXPECT_EQ(std::system("true"), 0);
  for (auto& each : all) each->check();
}

}  // namespace
}  // namespace outsize
