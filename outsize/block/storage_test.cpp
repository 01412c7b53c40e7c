// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Blocks of one storage never overlap, uneven disks are filled up, full ones are reported, nothing
// stays.

#include <outsize/block/storage.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/loop_device.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using block::block_id;

disk_options memory_disk(std::string name, std::uint64_t capacity_bytes = UINT64_MAX) {
  disk_options disk(name, [name](io::request_queue&) { return io::make_memory_file(name); });
  disk.capacity_bytes = capacity_bytes;
  return disk;
}

storage_options small(std::vector<disk_options> disks) {
  return {.disks = std::move(disks), .memory_bytes = 1_MiB, .threads = 1};
}

TEST(storage, has_no_more_threads_than_its_memory_bears) {
  auto options = small({memory_disk("a")});
  options.threads = 1000;
  EXPECT_EQ(storage(options).threads().threads(), 16U);
  options.memory_bytes = 80_MiB;
  EXPECT_EQ(storage(options).threads().threads(), 20U);
  options.threads = 3;
  EXPECT_EQ(storage(options).threads().threads(), 3U);
}

TEST(storage, leaves_room_beside_a_memory_that_is_not_named) {
  auto options = small({memory_disk("a")});
  EXPECT_EQ(storage(options).codec_memory().total_bytes(), UINT64_MAX);
  options.memory_bytes = 0;
  options.codec_memory_bytes = 5_MiB;
  storage store(options);
  std::uint64_t const most = available_memory_bytes();
  EXPECT_GE(store.codec_memory().total_bytes(), 5_MiB);
  EXPECT_LE(store.memory().total_bytes(), most / 2 + 2_MiB);
  EXPECT_GE(most + 2_MiB, store.memory().total_bytes() + store.codec_memory().total_bytes());
}

TEST(storage, spreads_a_sequence_over_its_disks) {
  storage store(small({memory_disk("a"), memory_disk("b"), memory_disk("c")}));
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  std::vector<int> on_disk(3);
  for (int i = 0; i < 30; ++i) {
    blocks.push_back(store.allocate(1000, *where));
    ++on_disk[blocks.back().disk];
  }
  EXPECT_EQ(on_disk, std::vector<int>(3, 10));
  EXPECT_EQ(store.allocated_bytes(), 30000U);
  for (block_id id : blocks) store.free(id);
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(store.peak_allocated_bytes(), 30000U);
}

TEST(storage, fills_uneven_disks_and_then_names_what_is_missing) {
  storage store(small({memory_disk("large", 1_MiB), memory_disk("little", 10000)}));
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  try {
    for (;;) blocks.push_back(store.allocate(4096, *where));
  } catch (out_of_space const& e) {
    EXPECT_EQ(e.disk(), "large, little");
    EXPECT_EQ(e.needed_bytes(), 4096U);
    EXPECT_EQ(e.free_bytes(), 10000U - 2 * 4096U);
    EXPECT_NE(std::string(e.what()).find("large, little"), std::string::npos) << e.what();
  }
  EXPECT_EQ(blocks.size(), 1_MiB / 4096 + 2);
  store.free(blocks.back());
  blocks.back() = store.allocate(4096, *where);  // freed space is used again
  for (block_id id : blocks) store.free(id);
}

TEST(storage, uses_only_the_disks_it_is_restricted_to) {
  auto options = small({memory_disk("a", 8192), memory_disk("b", 4096), memory_disk("c", 8192)});
  options.placement = {block::placement_kind::striping, {2, 1}};
  storage store(options);
  EXPECT_EQ(store.disk_names(), "c, b");
  EXPECT_EQ(store.free_bytes(), 8192U + 4096U);
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  for (std::uint32_t const disk : {2U, 1U, 2U}) {
    blocks.push_back(store.allocate(4096, *where));
    EXPECT_EQ(blocks.back().disk, disk);
  }
  try {
    store.allocate(4096, *where);
    FAIL() << "a block on a disk that may not be used";
  } catch (out_of_space const& e) {
    EXPECT_EQ(e.disk(), "c, b");
    EXPECT_EQ(e.free_bytes(), 0U);
  }
  auto const elsewhere = store.new_placement({block::placement_kind::single_disk, {0}});
  blocks.push_back(store.allocate(4096, *elsewhere));
  EXPECT_EQ(blocks.back().disk, 0U);
  for (block_id id : blocks) store.free(id);
}

TEST(storage, refuses_a_placement_on_disks_that_it_has_not) {
  for (auto const& disks : {std::vector<std::uint32_t>{2}, std::vector<std::uint32_t>{0, 0}}) {
    auto options = small({memory_disk("a"), memory_disk("b")});
    storage store(options);
    EXPECT_THROW(store.new_placement({.disks = disks}), std::invalid_argument);
    options.placement.disks = disks;
    EXPECT_THROW(storage{options}, std::invalid_argument);
  }
}

TEST(storage, reuses_freed_space_before_a_file_grows) {
  scratch::directory folder;
  storage store(small({disk_options(folder.path())}));
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(store.allocate(4096, *where));
  std::uint64_t highest = 0;
  for (block_id id : blocks) {
    highest = std::max(highest, id.offset_bytes);
    store.free(id);
  }
  for (auto& id : blocks) {
    id = store.allocate(4096, *where);
    EXPECT_LE(id.offset_bytes, highest);
  }
  for (block_id id : blocks) store.free(id);
}

TEST(storage, grows_its_files_in_steps_that_double) {
  struct observed final : io::file {
    io::file_ptr inner = io::make_memory_file("observed");
    std::vector<std::uint64_t>* steps;
    explicit observed(std::vector<std::uint64_t>* s) : steps(s) {}
    ~observed() override { drain(); }
    std::uint64_t size_bytes() const override { return inner->size_bytes(); }
    void resize(std::uint64_t) override {}
    void sync() override {}
    void allocate(std::uint64_t, std::uint64_t length) override { steps->push_back(length); }
    std::size_t alignment_bytes() const noexcept override { return 512; }
    std::string const& name() const noexcept override { return inner->name(); }
    void start(io::attempt work) noexcept override { inner->start(std::move(work)); }
    bool withdraw(io::request const&) noexcept override { return false; }
  };
  std::vector<std::uint64_t> steps;
  storage store(small({disk_options("observed", [&](io::request_queue&) -> io::file_ptr {
    return std::make_unique<observed>(&steps);
  })}));
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  for (int i = 0; i < 30; ++i) blocks.push_back(store.allocate(1_MiB - 1, *where));
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{4_MiB, 8_MiB, 16_MiB, 32_MiB}));
  EXPECT_EQ(blocks.back().length_bytes, 1_MiB);  // rounded up to the alignment
  blocks.push_back(store.allocate(100_MiB, *where));
  EXPECT_EQ(steps.back(), 100_MiB);
  for (block_id id : blocks) store.free(id);
}

TEST(storage, uses_a_device_until_its_end) {
  scratch::loop_device const device(8_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  disk_options whole(device.path());
  whole.raw = true;
  storage store(small({whole}));
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(store.allocate(1_MiB, *where));
  EXPECT_THROW(store.allocate(4096, *where), out_of_space);
  for (block_id id : blocks) store.free(id);
}

TEST(storage, makes_no_file_before_the_first_block_and_leaves_none_behind) {
  scratch::directory folder;
  {
    storage store(small({disk_options(folder.path())}));
    EXPECT_TRUE(folder.names().empty());
    auto const where = store.new_placement();
    std::size_t const length = store.alignment_bytes() * 2;
    auto const id = store.allocate(length, *where);
    EXPECT_TRUE(folder.names().empty());  // the file has no name
    grant memory = store.memory().take(64_KiB, "test");
    buffer const place = memory.allocate(length);
    std::ranges::fill(place.bytes(), std::byte{5});
    store.write(id, place.bytes().first(length))->wait();
    std::ranges::fill(place.bytes(), std::byte{0});
    EXPECT_EQ(store.read(id, place.bytes().first(length))->wait(), length);
    EXPECT_EQ(place.bytes()[length - 1], std::byte{5});
    EXPECT_EQ(store.total_statistics().write_count, 1U);
    EXPECT_EQ(store.disk_statistics(0).read_bytes, length);
    store.free(id);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(storage, refuses_a_disk_that_is_not_there) {
  scratch::directory folder;
  try {
    storage store(small({disk_options(folder.path("missing"))}));
    FAIL() << "a directory that does not exist was accepted";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), ENOENT);
    EXPECT_NE(std::string(e.what()).find("missing"), std::string::npos);
  }
}

TEST(storage, writes_over_a_file_only_where_that_is_said) {
  scratch::directory folder;
  auto const path = folder.path("raw");
  scratch::write_file(path, "precious");
  disk_options disk(path);
  try {
    storage store(small({disk}));
    FAIL() << "a file was accepted as a directory";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), ENOTDIR);
    EXPECT_EQ(e.path(), path);
  }
  EXPECT_EQ(scratch::read_file(path), "precious");

  disk.raw = true;
  {
    storage store(small({disk}));
    EXPECT_GT(store.free_bytes(), 0U);
    EXPECT_LE(store.free_bytes(), io::free_space_bytes(folder.path()) + 64_KiB);  // not without end
    auto const where = store.new_placement();
    auto const id = store.allocate(4096, *where);
    grant memory = store.memory().take(4096, "test");
    buffer const place = memory.allocate(4096);
    std::ranges::fill(place.bytes(), std::byte{'x'});
    store.write(id, place.bytes().first(id.length_bytes))->wait();
    store.free(id);
  }
  EXPECT_EQ(scratch::read_file(path).substr(0, 4096), std::string(4096, 'x'));

  disk.path = folder.path();
  EXPECT_THROW(storage{small({disk})}, io_error);
}

TEST(storage, does_not_use_a_file_that_is_a_disk_already) {
  scratch::directory folder;
  disk_options disk(folder.path("raw"));
  scratch::write_file(disk.path, "");
  disk.raw = true;
  auto const use = [](storage& store) { store.free(store.allocate(4096, *store.new_placement())); };
  EXPECT_THROW(storage(small({disk, disk})), std::invalid_argument);
  storage first(small({disk})), second(small({disk}));
  use(first);
  try {
    use(second);
    FAIL() << "was used twice";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EBUSY);
    EXPECT_EQ(e.path(), disk.path);
  }
}

TEST(storage, gives_each_disk_its_own_queue) {
  std::vector<std::size_t> depths;
  std::vector<std::string> names;
  auto const observed = [&](std::string const& name) {
    return disk_options(name, [&, name](io::request_queue& queue) {
      depths.push_back(queue.depth());
      names.emplace_back(queue.name());
      return io::make_memory_file(name);
    });
  };
  auto options = small({observed("a"), observed("b")});
  options.depth = 5;
  options.disks[1].depth = 3;
  options.disks[1].backend = io::backend::threads;
  storage store(options);
  store.alignment_bytes();  // makes the files
  EXPECT_EQ(depths, (std::vector<std::size_t>{5, 3}));
  EXPECT_EQ(names[1], "threads");
}

TEST(storage, gives_a_faster_disk_more_blocks) {
  auto options = small({memory_disk("slow"), memory_disk("fast")});
  options.disks[0].read_bytes_per_second = options.disks[0].write_bytes_per_second = 1_GiB;
  options.disks[1].read_bytes_per_second = options.disks[1].write_bytes_per_second = 3_GiB;
  storage store(options);
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  std::vector<int> on_disk(2);
  for (int i = 0; i < 40; ++i) {
    blocks.push_back(store.allocate(1000, *where));
    ++on_disk[blocks.back().disk];
  }
  EXPECT_EQ(on_disk, (std::vector<int>{10, 30}));
  for (block_id id : blocks) store.free(id);
  options.disks[1].read_bytes_per_second = options.disks[1].write_bytes_per_second = 0;
  EXPECT_THROW(storage{options}, std::invalid_argument);
}

TEST(storage, takes_a_block_that_is_cut_short_for_an_error) {
  storage store(small({memory_disk("a")}));
  auto const id = store.allocate(512, *store.new_placement());
  std::vector<std::byte> bytes(512);
  store.wait_for_block(id, *store.read(id, bytes));
  auto const reading = store.read(id, std::span(bytes).first(256));
  try {
    store.wait_for_block(id, *reading);
    FAIL() << "half a block was taken for a whole one";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EIO);
    EXPECT_EQ(e.path(), "a");
    EXPECT_EQ(e.length_bytes(), 512U);
  }
}

TEST(storage, notices_any_bit_that_is_not_as_it_was_written) {
  storage store(small({memory_disk("a"), memory_disk("b")}));
  block_id const id{.offset_bytes = 8192, .disk = 1, .length_bytes = 512};
  std::vector<std::byte> bytes(512, std::byte{7});
  auto const checksum = block::checksum_of(bytes);
  store.check(id, bytes, checksum);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto const flip = std::byte{1} << bit % 8;
    bytes[bit / 8] ^= flip;
    try {
      store.check(id, bytes, checksum);
      FAIL() << "bit " << bit << " went unnoticed";
    } catch (corrupt_block const& e) {
      EXPECT_EQ(e.disk(), "b");
      EXPECT_EQ(e.offset_bytes(), 8192U);
      EXPECT_EQ(e.length_bytes(), 512U);
    }
    bytes[bit / 8] ^= flip;
  }
}

struct storage_of_checked_blocks : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {{"a",
                            [this](io::request_queue&) -> io::file_ptr {
                              return std::make_unique<io::faulty_file>(
                                  io::make_memory_file("a", 1_MiB, {.own_thread = true}), plan);
                            }}},
                 .memory_bytes = 1_MiB,
                 .threads = 1,
                 .checksums = block_checksums::of_all}};
  block::block_id id = store.allocate(2048, *store.new_placement());
  std::vector<std::byte> bytes = std::vector<std::byte>(2048, std::byte{7});

  /// The blocks of 512 bytes in it.
  block_id part(std::uint64_t index) const { return {id.offset_bytes + index * 512, 0, 512}; }
  void expect_corrupt(block_id what, io::request& reading) const {
    try {
      store.wait_for_block(what, reading);
      FAIL() << "a flipped bit went unnoticed";
    } catch (corrupt_block const& e) {
      EXPECT_EQ(e.disk(), "a");
      EXPECT_EQ(e.offset_bytes(), what.offset_bytes);
      EXPECT_EQ(e.length_bytes(), what.length_bytes);
    }
    EXPECT_THROW(reading.wait(), io_error);  // whoever waits for it otherwise
  }
};

TEST_F(storage_of_checked_blocks, compares_each_read) {
  plan->script(io::fault_point::write, 1, io::fault::flip(77));
  store.write(id, bytes)->wait();
  store.wait_for_block(id, *store.read(id, bytes));
  store.wait_for_block(id, *store.read_now(id, bytes));
  store.write(id, bytes)->wait();
  expect_corrupt(id, *store.read(id, bytes));
  expect_corrupt(id, *store.read_now(id, bytes));
  io::outcome seen;
  store.read(id, bytes, [&](io::request const&, io::outcome how) { seen = how; })->wait_outcome();
  EXPECT_EQ(seen.error_number, EBADMSG);
  store.write(id, bytes)->wait();
  store.wait_for_block(id, *store.read(id, bytes));
}

TEST_F(storage_of_checked_blocks, compares_blocks_that_were_written_together_one_by_one) {
  plan->script(io::fault_point::write, 0, io::fault::flip(512 * 8 * 2 + 5));  // of the third
  store.write(part(0), bytes)->wait();
  std::vector<std::byte> some(512);
  for (std::uint64_t const sound : {0U, 1U, 3U})
    store.wait_for_block(part(sound), *store.read(part(sound), some));
  expect_corrupt(part(2), *store.read(part(2), some));
  expect_corrupt(id, *store.read(id, bytes));  // of which it is a part
}

TEST_F(storage_of_checked_blocks, compares_a_beginning_that_was_written_by_itself) {
  plan->script(io::fault_point::write, 1, io::fault::flip(5));
  store.write(id, bytes)->wait();
  store.write(id, std::span(bytes).first(512))->wait();
  expect_corrupt(id, *store.read(id, bytes));
}

TEST_F(storage_of_checked_blocks, forgets_those_whose_write_has_failed) {
  plan->script(io::fault_point::write, 1, io::fault::fail(EIO));
  store.write(id, bytes)->wait();
  std::vector<std::byte> const others(2048, std::byte{8});
  EXPECT_THROW(store.write(id, others)->wait(), io_error);
  store.wait_for_block(id, *store.read(id, bytes));  // as it was, which nobody denies
  EXPECT_EQ(bytes.front(), std::byte{7});
}

TEST_F(storage_of_checked_blocks, forgets_those_that_are_freed) {
  plan->script(io::fault_point::write, 0, io::fault::flip(5));
  store.write(id, bytes)->wait();
  store.free(id);
  id = store.allocate(2048, *store.new_placement());
  store.wait_for_block(id, *store.read(id, bytes));  // nothing was written to it
}

TEST(storage, says_what_it_wants_memory_for_if_checksums_find_none) {
  auto options = small({memory_disk("a")});
  options.checksums = block_checksums::of_all;
  storage store(options);
  auto const rest = store.memory().take(store.memory().free_bytes() - 1, "the rest");
  std::vector<std::byte> const bytes(16);
  auto const where = store.new_placement();
  std::vector<block_id> blocks;
  try {
    for (;;) {
      blocks.push_back(store.allocate(16, *where));
      store.write(blocks.back(), bytes)->wait();
    }
  } catch (budget_error const& e) {
    EXPECT_EQ(e.asker(), "checksums of blocks");
  }
  EXPECT_EQ(blocks.size(), 1_MiB / 64 / 80 + 1);
  for (block_id const id : blocks) store.free(id);
}

// Every thread fills its blocks with a number of its own and finds it there until it frees them.
TEST(storage, never_hands_out_overlapping_blocks_to_many_threads) {
  std::uint64_t const seed = 41;
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto options = small({memory_disk("a"), memory_disk("b", 3_MiB)});
  options.checksums = block_checksums::of_all;
  storage store(options);
  auto const work = [&](std::size_t thread) {
    struct owned {
      block_id id;
      std::uint64_t value;
    };
    std::mt19937_64 random(seed + thread);
    auto const where = store.new_placement();
    std::vector<owned> mine;
    std::vector<std::uint64_t> words(256);
    auto const check_and_free = [&](owned const& o) {
      auto const bytes = std::as_writable_bytes(std::span(words)).first(o.id.length_bytes);
      store.read(o.id, bytes)->wait();
      EXPECT_TRUE(std::all_of(words.begin(), words.begin() + o.id.length_bytes / 8,
                              [&](std::uint64_t w) { return w == o.value; }));
      store.free(o.id);
    };
    for (std::uint64_t step = 0; step < 400; ++step) {
      if (random() % 3 == 0 && !mine.empty()) {
        std::swap(mine[random() % mine.size()], mine.back());
        check_and_free(mine.back());
        mine.pop_back();
        continue;
      }
      std::size_t const length = 8 * (1 + random() % 256);
      mine.push_back({store.allocate(length, *where), (thread << 32) + step});
      std::fill_n(words.begin(), length / 8, mine.back().value);
      store.write(mine.back().id, std::as_bytes(std::span(words)).first(length))->wait();
    }
    for (owned const& o : mine) check_and_free(o);
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (auto& t : threads) t.join();
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST(storage_death_test, asserts_that_nothing_lives_in_it_any_more) {
  auto const misuse = [] {
    auto store = std::make_unique<storage>(small({memory_disk("a")}));
    auto const memory = store->memory().take(0, "test");
    store.reset();
  };
  EXPECT_DEATH(misuse(), "a storage goes before a container, sorter or stream that lives in it");
  storage_options checked = small({memory_disk("a"), memory_disk("b")});
  checked.checksums = block_checksums::of_all;  // whose memory is its own
  storage const store(checked);
  EXPECT_EQ(store.options().disks.size(), 2U);
}

}  // namespace
}  // namespace outsize
