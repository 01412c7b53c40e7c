// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every kind of I/O failure at every call of a small sort that spills and merges twice: each time
// the sort ends with the right result or with an error that says so, and leaves nothing behind. A
// watchdog ends a hang.

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/algorithm/record_sort.hpp>
#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>

#include <sys/mount.h>  // after the others: it defines BLOCK_SIZE, which Boost uses as a name

namespace outsize {
namespace {

using io::fault;
using io::fault_odds;
using io::fault_plan;
using io::fault_point;

constexpr std::size_t number_count = 10'000;
constexpr std::size_t record_count = 1'600;

/// Ends the process if a sort takes much longer than any sort here can.
class watchdog {
 public:
  explicit watchdog(std::string doing) : doing_(std::move(doing)) {}
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;
  ~watchdog() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, std::chrono::seconds(60), [this] { return done_; })) return;
    std::fprintf(stderr, "hangs: %s\n", doing_.c_str());
    std::abort();
  }

  std::string doing_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_{[this] { watch(); }};
};

storage_options faulty_disks(std::shared_ptr<fault_plan> const& plan, block_checksums checksums,
                             std::size_t disk_count = 2) {
  storage_options options{.memory_bytes = 1_MiB, .threads = 2, .checksums = checksums};
  for (std::size_t d = 0; d < disk_count; ++d) {
    std::string const name = "disk " + std::to_string(d);
    options.disks.emplace_back(name, [name, plan](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::faulty_file>(
          io::make_memory_file(name, 64_MiB, {.own_thread = true}), plan);
    });
  }
  return options;
}

// ---- the sorts ----

std::vector<std::uint64_t> const& numbers() {
  static auto const all = [] {
    std::mt19937_64 random(3);
    std::vector<std::uint64_t> v(number_count);
    for (auto& x : v) x = random() % 50'000;
    return v;
  }();
  return all;
}

/// Whether the result was right; throws what the sort threw.
bool sort_numbers_with(storage& store, sort_options options, std::uint64_t least_passes) {
  options.input_bytes = number_count * 8;
  sorter<std::uint64_t> s(store, {}, options);
  s.push(numbers());
  std::vector<std::uint64_t> out;
  for (s.sort(); !s.empty(); s.skip(s.pull().size()))
    out.insert(out.end(), s.pull().begin(), s.pull().end());
  EXPECT_GE(s.report().passes, least_passes);
  EXPECT_EQ(s.report().encoded_runs > 0, options.codec == run_codec::always);
  static auto const want = [] {
    auto v = numbers();
    std::ranges::sort(v);
    return v;
  }();
  return out == want;
}

bool sort_numbers_in(storage& store, std::uint64_t memory_bytes, std::uint64_t least_passes) {
  return sort_numbers_with(store, {.memory_bytes = memory_bytes, .block_bytes = 2048},
                           least_passes);
}

bool sort_numbers(storage& store) { return sort_numbers_in(store, 48_KiB, 2); }

bool sort_lines_with(storage& store, sort_options options) {
  static auto const lines = [] {
    std::mt19937_64 random(5);
    std::vector<std::string> v(record_count);
    for (auto& line : v) line = std::string(random() % 60, 'a') + std::to_string(random() % 1000);
    return v;
  }();
  static auto const want = [] {
    auto sorted = lines;
    std::ranges::sort(sorted);
    std::string text;
    for (auto const& line : sorted) text += line + '\n';
    return text;
  }();
  constexpr byte_order order{};
  options.input_bytes = want.size();
  detail::sort_engine<detail::record_items<byte_order>> engine(
      store, detail::record_items<byte_order>(order, 0), options,
      {detail::item_framing::kind::terminator});
  for (auto const& line : lines) engine.append(line);
  engine.finish_input();
  std::string out;
  while (auto window = engine.next()) {
    out.append(reinterpret_cast<char const*>(window->data().data()), window->bytes);
    engine.recycle(*window);
  }
  EXPECT_GT(engine.report().passes, 1U);
  EXPECT_EQ(engine.report().encoded_runs > 0, options.codec == run_codec::always);
  return out == want;
}

bool sort_lines(storage& store) {
  return sort_lines_with(store,
                         {.memory_bytes = 48_KiB, .block_bytes = 2048, .codec = run_codec::none});
}

// ---- and what else spills ----

bool sort_encoded_numbers(storage& store) {
  return sort_numbers_with(
      store, {.memory_bytes = 48_KiB, .block_bytes = 1024, .codec = run_codec::always}, 1);
}

bool sort_encoded_lines(storage& store) {
  return sort_lines_with(store,
                         {.memory_bytes = 48_KiB, .block_bytes = 2048, .codec = run_codec::always});
}

bool sort_numbers_by_a_lambda(storage& store) {
  auto const last_digits = [](std::uint64_t a, std::uint64_t b) { return a % 1000 < b % 1000; };
  std::vector<std::uint64_t> out, want = numbers();
  outsize::sort(store, numbers(), std::back_inserter(out), last_digits,
                {.memory_bytes = 48_KiB, .block_bytes = 2048});
  std::ranges::stable_sort(want, last_digits);
  return out == want;
}

bool reduce_numbers(storage& store) {
  std::vector<std::uint64_t> out, want = numbers();
  reduce_by_key(store, numbers(), std::back_inserter(out), std::less<>(),
                [](std::uint64_t a, std::uint64_t) { return a; },
                {.memory_bytes = 48_KiB, .block_bytes = 1024});
  std::ranges::sort(want);
  want.erase(std::ranges::unique(want).begin(), want.end());
  return out == want;
}

using sort_function = bool (*)(storage&);

struct named_sort {
  char const* name;
  sort_function sort;
};

void PrintTo(named_sort const& s, std::ostream* out) { *out << s.name; }

enum class ending { right, failed };

/// Sorts on disks that follow the plan and checks all that must hold whatever happens.
ending sort_under(std::shared_ptr<fault_plan> const& plan, sort_function sort,
                  std::string const& what, int error_number,
                  block_checksums checksums = block_checksums::none) {
  SCOPED_TRACE(what);
  watchdog const guard(what);
  storage store(faulty_disks(plan, checksums));
  std::uint64_t const free_bytes = store.memory().free_bytes();
  ending how = ending::right;
  try {
    EXPECT_TRUE(sort(store)) << "wrong result";
  } catch (out_of_space const& e) {
    EXPECT_EQ(error_number, ENOSPC);
    EXPECT_NE(std::strstr(e.what(), "disk 0"), nullptr) << e.what();
    how = ending::failed;
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), error_number) << e.what();
    EXPECT_NE(std::strstr(e.what(), "disk "), nullptr) << e.what();
    how = ending::failed;
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
  return how;
}

// ---- at every call ----

struct scripted_fault {
  char const* name;
  fault_point where;
  fault what;
  std::uint64_t count;
};

class sort_with_fault : public testing::TestWithParam<named_sort> {
 protected:
  std::uint64_t calls_of_a_clean_run(fault_point where, block_checksums checksums) const {
    auto const plan = std::make_shared<fault_plan>();
    EXPECT_EQ(sort_under(plan, GetParam().sort, "without faults", 0, checksums), ending::right);
    return plan->calls(where);
  }

  struct sweep {
    std::uint64_t sorts = 0;
    std::uint64_t faults = 0;  // sorts that came to their call
    std::uint64_t failures = 0;
  };

  /// One sort for each call of a clean run, or under sanitizers for some, others each time. Not
  /// every sort makes all of them: how full the blocks of records are depends on how many had been
  /// read when the merge went on.
  sweep fail_each_call(scripted_fault const& f) const {
    bool const flips = f.what.flipped_bit.has_value();
    sweep seen;
    std::uint64_t const calls =
        calls_of_a_clean_run(f.where, flips ? block_checksums::of_runs : block_checksums::none);
    int const error_number = flips ? EBADMSG : f.what.error_number;
    EXPECT_GE(calls, f.where == fault_point::allocate ? 2U : 50U);
    std::uint64_t const step = calls < 50 ? 1 : scratch::one_of(5);
    for (std::uint64_t call = std::random_device{}() % step; call < calls && !HasFailure();
         call += step) {
      ++seen.sorts;
      auto const plan = std::make_shared<fault_plan>();
      plan->script(f.where, call, f.what, f.count);
      auto const what = std::string(f.name) + " at call " + std::to_string(call);
      auto const checksums = !flips                ? block_checksums::none
                             : seen.sorts % 2 == 0 ? block_checksums::of_all
                                                   : block_checksums::of_runs;
      if (sort_under(plan, GetParam().sort, what, error_number, checksums) == ending::failed)
        ++seen.failures;
      seen.faults += plan->injected() > 0 ? 1 : 0;
    }
    EXPECT_GE(seen.faults, seen.sorts - seen.sorts / 8 - 1);
    return seen;
  }
};

TEST_P(sort_with_fault, ends_in_an_error_whichever_read_fails) {
  auto const seen = fail_each_call({"EIO on read", fault_point::read, fault::fail(EIO), 1});
  EXPECT_EQ(seen.failures, seen.faults);
}

TEST_P(sort_with_fault, ends_in_an_error_whichever_write_fails) {
  auto const seen = fail_each_call({"EIO on write", fault_point::write, fault::fail(EIO), 1});
  EXPECT_EQ(seen.failures, seen.faults);
}

TEST_P(sort_with_fault, ends_in_an_error_when_all_writes_fail_from_any_on) {
  auto const seen =
      fail_each_call({"ENOSPC on write", fault_point::write, fault::fail(ENOSPC), 1'000'000});
  EXPECT_EQ(seen.failures, seen.faults);
}

TEST_P(sort_with_fault, goes_on_with_less_or_elsewhere_when_one_allocation_finds_no_space) {
  auto const seen =
      fail_each_call({"ENOSPC on one allocation", fault_point::allocate, fault::fail(ENOSPC), 1});
  EXPECT_EQ(seen.failures, 0U);
}

TEST_P(sort_with_fault, ends_in_an_error_when_allocations_fail) {
  auto const first =
      fail_each_call({"ENOSPC on allocation", fault_point::allocate, fault::fail(ENOSPC), 1000});
  EXPECT_GE(first.failures, 1U);  // later ones do with the space of the first
  auto const each =
      fail_each_call({"EIO on allocation", fault_point::allocate, fault::fail(EIO), 1});
  EXPECT_EQ(each.failures, each.faults);
}

TEST_P(sort_with_fault, ends_in_an_error_whichever_block_is_not_written_as_it_should_be) {
  for (std::size_t const bit : {0U, 9999U}) {
    auto const seen = fail_each_call({"a flipped bit", fault_point::write, fault::flip(bit), 1});
    EXPECT_EQ(seen.failures, seen.faults);
  }
}

TEST_P(sort_with_fault, goes_on_after_interrupted_transfers) {
  for (auto const where : {fault_point::read, fault_point::write})
    EXPECT_EQ(fail_each_call({"interruption", where, fault::interrupt(), 2}).failures, 0U);
}

TEST_P(sort_with_fault, goes_on_after_short_and_late_transfers) {
  fault const short_and_late{.at_most_bytes = 100, .delay = std::chrono::microseconds(200)};
  for (auto const where : {fault_point::read, fault_point::write})
    EXPECT_EQ(fail_each_call({"short and late transfer", where, short_and_late, 3}).failures, 0U);
}

// ---- at random ----

TEST_P(sort_with_fault, is_right_under_random_disorder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto const plan =
        std::make_shared<fault_plan>(fault_odds{.seed = seed,
                                                .interrupt = 0.1,
                                                .shorten = 0.2,
                                                .hold = 0.2,
                                                .max_delay = std::chrono::microseconds(200)});
    EXPECT_EQ(sort_under(plan, GetParam().sort, "seed " + std::to_string(seed), 0), ending::right);
    EXPECT_GT(plan->injected(), 10U);
  }
}

TEST_P(sort_with_fault, is_right_or_fails_under_random_errors) {
  std::uint64_t failures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto const plan =
        std::make_shared<fault_plan>(fault_odds{.seed = seed,
                                                .fail = 0.004,
                                                .error_number = EIO,
                                                .interrupt = 0.05,
                                                .shorten = 0.1,
                                                .hold = 0.1,
                                                .max_delay = std::chrono::microseconds(200)});
    if (sort_under(plan, GetParam().sort, "seed " + std::to_string(seed), EIO) == ending::failed)
      ++failures;
  }
  EXPECT_GT(failures, 5U);
}

INSTANTIATE_TEST_SUITE_P(faults, sort_with_fault,
                         testing::Values(named_sort{"numbers", sort_numbers},
                                         named_sort{"lines", sort_lines}),
                         [](auto const& of) { return std::string(of.param.name); });

class spilling_with_fault : public sort_with_fault {};

TEST_P(spilling_with_fault, ends_in_an_error_whichever_read_or_write_fails) {
  for (auto const where : {fault_point::read, fault_point::write}) {
    auto const seen = fail_each_call({"EIO", where, fault::fail(EIO), 1});
    EXPECT_EQ(seen.failures, seen.faults);
  }
}

TEST_P(spilling_with_fault, goes_on_after_short_and_late_transfers) {
  fault const short_and_late{.at_most_bytes = 100, .delay = std::chrono::microseconds(200)};
  EXPECT_EQ(fail_each_call({"short write", fault_point::write, short_and_late, 3}).failures, 0U);
}

INSTANTIATE_TEST_SUITE_P(faults, spilling_with_fault,
                         testing::Values(named_sort{"encoded", sort_encoded_numbers},
                                         named_sort{"encoded_lines", sort_encoded_lines},
                                         named_sort{"lambda", sort_numbers_by_a_lambda},
                                         named_sort{"reduced", reduce_numbers}),
                         [](auto const& of) { return std::string(of.param.name); });

// ---- blocks that are not as they were written ----

class sort_of_a_file : public testing::Test {
 protected:
  sort_of_a_file() {
    std::string const some{reinterpret_cast<char const*>(numbers().data()),
                           number_count * sizeof(std::uint64_t)};
    std::string all;
    while (all.size() < 2 * min_sort_memory_bytes) all += some;
    input_bytes_ = all.size();
    scratch::write_file(folder_.path("in"), all);
    scratch::write_file(folder_.path("out"), "as it was");
    plan_->script(fault_point::write, 1, fault::flip(77));
  }

  void sort(block_checksums checksums) {
    auto options = faulty_disks(plan_, checksums, 1);
    options.memory_bytes = min_sort_memory_bytes + 64_KiB;  // for checksums of all blocks
    storage store(options);
    sort_records(store, {{folder_.path("in")}, folder_.path("out")},
                 record_order(record_format::parse("u64")), {.block_bytes = block_bytes});
  }

  std::string output() const { return scratch::read_file(folder_.path("out")); }

  static constexpr std::size_t block_bytes = 32_KiB;
  std::shared_ptr<fault_plan> plan_ = std::make_shared<fault_plan>();
  scratch::directory folder_;
  std::size_t input_bytes_ = 0;
};

TEST_F(sort_of_a_file, names_the_block_and_leaves_the_output_as_it_was) {
  for (auto const checksums : {block_checksums::of_runs, block_checksums::of_all}) {
    plan_ = std::make_shared<fault_plan>();
    plan_->script(fault_point::write, 1, fault::flip(77));
    try {
      sort(checksums);
      FAIL() << "a flipped bit went unnoticed";
    } catch (corrupt_block const& e) {
      EXPECT_EQ(e.disk(), "disk 0");
      // The second block that was written: the first of a run is shorter.
      EXPECT_EQ(e.offset_bytes(), detail::staggered_bytes(block_bytes, 0));
      EXPECT_EQ(e.length_bytes(), block_bytes);
    }
    EXPECT_EQ(output(), "as it was");
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"in", "out"}));
  }
}

// What the option is for: the flip above does get through.
TEST_F(sort_of_a_file, is_wrong_where_nobody_looks) {
  sort(block_checksums::none);
  EXPECT_EQ(output().size(), input_bytes_);
  std::string right = scratch::read_file(folder_.path("in"));
  auto* const items = reinterpret_cast<std::uint64_t*>(right.data());
  std::sort(items, items + right.size() / sizeof(std::uint64_t));
  EXPECT_NE(output(), right);
}

// What a block says of itself is not believed, even if nobody compares checksums: whichever bit was
// flipped, a sort of lines ends, with other lines or with an error that names the block.
TEST(sort_of_lines, ends_whichever_bit_is_not_as_it_was_written_and_nobody_compares_checksums) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (sort_function const sort : {sort_lines, sort_encoded_lines}) {
    auto const clean = std::make_shared<fault_plan>();
    {
      storage store(faulty_disks(clean, block_checksums::none));
      EXPECT_TRUE(sort(store));
    }
    int noticed = 0;
    for (int i = 0; i < 300; ++i) {
      auto const plan = std::make_shared<fault_plan>();
      plan->script(fault_point::write, random() % clean->calls(fault_point::write),
                   fault::flip(random() % (2048 * 8)));
      watchdog const guard("a flipped bit");
      storage store(faulty_disks(plan, block_checksums::none));
      try {
        sort(store);
      } catch (corrupt_block const& e) {
        EXPECT_EQ(e.disk().substr(0, 5), "disk ");
        ++noticed;
      }
      EXPECT_EQ(store.allocated_bytes(), 0U);
    }
    EXPECT_GT(noticed, 0);
  }
}

// ---- disks that are really full ----

/// A file system of its own in memory; nothing where the user may not mount one.
class small_file_system {
 public:
  explicit small_file_system(std::string const& size) {
    mounted_ = ::geteuid() == 0 && ::mount("tmpfs", folder_.path().c_str(), "tmpfs",
                                           MS_NOSUID | MS_NODEV, ("size=" + size).c_str()) == 0;
  }
  small_file_system(small_file_system const&) = delete;
  small_file_system& operator=(small_file_system const&) = delete;
  ~small_file_system() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }

  bool mounted() const noexcept { return mounted_; }
  scratch::directory const& folder() const noexcept { return folder_; }

 private:
  scratch::directory folder_;
  bool mounted_;
};

TEST(sort_on_full_disk, names_the_disk_and_what_is_missing) {
  small_file_system const little("64k");
  if (!little.mounted()) GTEST_SKIP() << "may not mount a tmpfs";
  watchdog const guard("a full disk");
  storage store({.disks = {little.folder().path()}, .memory_bytes = 1_MiB, .threads = 2});
  try {
    sort_numbers_in(store, 72_KiB, 1);
    FAIL() << "80 KB on a disk of 64 KB";
  } catch (out_of_space const& e) {
    EXPECT_EQ(e.disk(), little.folder().path());
    EXPECT_LT(e.free_bytes(), e.needed_bytes());
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
  EXPECT_TRUE(little.folder().names().empty());
}

TEST(sort_on_full_disk, uses_what_little_space_there_is_and_goes_on_elsewhere) {
  small_file_system const little("64k");
  if (!little.mounted()) GTEST_SKIP() << "may not mount a tmpfs";
  scratch::directory const large;
  watchdog const guard("a full disk beside another");
  storage store(
      {.disks = {little.folder().path(), large.path()}, .memory_bytes = 1_MiB, .threads = 2});
  EXPECT_TRUE(sort_numbers_in(store, 72_KiB, 1));
  EXPECT_GT(store.disk_statistics(0).write_bytes, 40'000U);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

}  // namespace
}  // namespace outsize
