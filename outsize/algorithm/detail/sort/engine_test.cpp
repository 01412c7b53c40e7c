// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The engine with byte-string records against std::stable_sort: tiny blocks and memory, so that
// there are many runs and several passes; orders and lengths that make the prediction of blocks
// hard; cancellation. The engine with items of one type is tested through sorter_test.cpp.

#include <outsize/algorithm/detail/sort/engine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

using records = std::vector<std::string>;

/// Compares the first `length` bytes only, so that the input order of equal records shows.
struct start_order {
  std::size_t length;

  std::string_view key(std::string_view record) const { return record.substr(0, length); }
  std::uint64_t prefix(std::string_view record) const { return byte_order{}.prefix(key(record)); }
  int compare(std::string_view a, std::string_view b) const { return key(a).compare(key(b)); }
  bool equal_keys(std::string_view a, std::string_view b) const { return key(a) == key(b); }
};

/// Compares the last bytes, so that the beginning of a record predicts nothing.
struct end_order {
  std::uint64_t prefix(std::string_view) const { return 0; }
  int compare(std::string_view a, std::string_view b) const {
    return std::string(a.rbegin(), a.rend()).compare(std::string(b.rbegin(), b.rend()));
  }
  bool equal_keys(std::string_view a, std::string_view b) const { return a == b; }
};

struct setting {
  std::size_t threads = 2;
  std::size_t disks = 1;
  std::uint64_t memory_bytes = 128_KiB;
  std::size_t block_bytes = 4096;
  std::size_t item_bytes = 0;
  bool unique = false;
  item_framing framing{item_framing::kind::length_prefix};
  run_codec codec = run_codec::none;
};

storage_options disks_in_memory(setting const& s) {
  storage_options options{.memory_bytes = 8_MiB, .threads = s.threads};
  for (std::size_t d = 0; d < s.disks; ++d)
    options.disks.emplace_back("memory",
                               [](io::request_queue&) { return io::make_memory_file("memory"); });
  return options;
}

std::uint64_t total_bytes(records const& in) {
  std::uint64_t sum = 0;
  for (auto const& r : in) sum += r.size() + 4;
  return sum;
}

sort_options options_for(setting const& s, records const& in) {
  return {.unique = s.unique,
          .memory_bytes = s.memory_bytes,
          .block_bytes = s.block_bytes,
          .input_bytes = total_bytes(in),
          .codec = s.codec};
}

template <typename Order>
struct sorting {
  Order order;  // families keep its address
  storage store;
  sort_engine<record_items<Order>> engine;

  sorting(setting const& s, Order const& by, sort_options options)
      : order(by),
        store(disks_in_memory(s)),
        engine(store, record_items<Order>(order, s.item_bytes), std::move(options), s.framing) {}

  std::string run(records const& in) {
    for (auto const& r : in) engine.append(r);
    engine.finish_input();
    std::string out;
    while (auto window = engine.next()) {
      auto const bytes = window->data();
      out.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
      engine.recycle(*window);
    }
    return out;
  }
};

std::string framed(records const& all, item_framing framing) {
  std::string out;
  for (auto const& r : all) {
    auto const length = static_cast<std::uint32_t>(r.size());
    if (framing.how == item_framing::kind::length_prefix)
      out.append(reinterpret_cast<char const*>(&length), sizeof length);
    out += r;
    if (framing.how == item_framing::kind::terminator) out += framing.terminator;
  }
  return out;
}

template <typename Order>
records model(records in, Order const& order, bool unique) {
  std::stable_sort(in.begin(), in.end(),
                   [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
  if (unique)
    in.erase(std::unique(in.begin(), in.end(),
                         [&](auto const& a, auto const& b) { return order.equal_keys(a, b); }),
             in.end());
  return in;
}

std::string text_of(setting const& s) {
  return std::to_string(s.threads) + " threads, " + std::to_string(s.disks) + " disks, memory " +
         std::to_string(s.memory_bytes) + ", block " + std::to_string(s.block_bytes);
}

template <typename Order>
sort_report expect_sorts(records const& in, Order const& order, setting const& s) {
  SCOPED_TRACE(text_of(s) + ", " + std::to_string(in.size()) + " records");
  std::string const want = framed(model(in, order, s.unique), s.framing);
  sort_report report;
  sorting<Order> sort(s, order, options_for(s, in));
  std::string const out = sort.run(in);
  EXPECT_TRUE(out == want) << out.size() << " bytes, want " << want.size();
  EXPECT_EQ(sort.store.allocated_bytes(), 0U);
  return sort.engine.report();
}

// ---- input ----

using make_record = std::function<std::string(std::mt19937_64&)>;

records make_records(std::uint64_t seed, std::uint64_t bytes, make_record const& make) {
  std::mt19937_64 random(seed);
  records all;
  for (std::uint64_t sum = 0; sum < bytes; sum += all.back().size() + 20)
    all.push_back(make(random));
  return all;
}

std::string random_text(std::mt19937_64& random, std::size_t length) {
  std::string text(length, '\0');
  for (char& c : text) c = "ab\0z\xff"[random() % 5];
  return text;
}

std::string short_record(std::mt19937_64& random) { return random_text(random, random() % 40); }
std::string long_record(std::mt19937_64& random) {
  return random_text(random, random() % 20 == 0 ? random() % 3001 : random() % 100);
}
std::string alike_record(std::mt19937_64& random) {
  return std::string(100, 'p') + random_text(random, random() % 60);
}

constexpr std::uint64_t several_passes_bytes = 800'000;
constexpr byte_order bytes{};  // families keep its address

// ---- tests ----

TEST(engine, sorts_records_of_every_length) {
  for (std::size_t count : {0, 1, 2, 3, 100})
    expect_sorts(records(count, "record"), byte_order{}, {});
  expect_sorts(records(500, ""), byte_order{}, {});
  for (auto const& make : {short_record, long_record})
    for (std::size_t threads : {1, 2, 5})
      for (std::size_t disks : {1, 3}) {
        auto const report = expect_sorts(make_records(threads, several_passes_bytes, make),
                                         byte_order{}, {.threads = threads, .disks = disks});
        EXPECT_GT(report.passes, 1U);
      }
}

TEST(engine, sorts_records_in_descending_order) {
  expect_sorts(make_records(5, several_passes_bytes, long_record), byte_order{.descending = true},
               {});
}

TEST(engine, sorts_records_whose_beginnings_are_all_alike) {
  for (std::size_t threads : {1, 2, 5})
    EXPECT_GT(expect_sorts(make_records(7, several_passes_bytes, alike_record), byte_order{},
                           {.threads = threads, .disks = 2, .memory_bytes = 160_KiB})
                  .runs,
              10U);
}

TEST(engine, sorts_records_whose_beginnings_say_nothing_about_their_order) {
  auto const make = [](std::mt19937_64& random) { return random_text(random, 20 + random() % 60); };
  for (std::size_t disks : {1, 3})
    expect_sorts(make_records(9, 400'000, make), end_order{}, {.disks = disks});
}

TEST(engine, keeps_the_input_order_of_records_with_equal_keys) {
  for (std::size_t key_bytes : {1, 3, 40}) {
    std::uint64_t number = 0;
    auto const make = [&](std::mt19937_64& random) {
      return random_text(random, 1) + random_text(random, 2) + std::string(37, 'k') +
             std::to_string(number++);
    };
    expect_sorts(make_records(key_bytes, 500'000, make), start_order{key_bytes}, {.threads = 3});
  }
}

TEST(engine, keeps_the_first_of_records_with_equal_keys) {
  std::uint64_t number = 0;
  auto const make = [&](std::mt19937_64& random) {
    return random_text(random, 3) + std::string(random() % 50, 'k') + std::to_string(number++);
  };
  for (std::size_t key_bytes : {1, 3, 30})
    for (std::size_t threads : {1, 5})
      expect_sorts(make_records(key_bytes, 400'000, make), start_order{key_bytes},
                   {.threads = threads, .unique = true});
}

TEST(engine, frames_records_as_asked) {
  using kind = item_framing::kind;
  auto const in = make_records(11, 300'000, long_record);
  for (auto const how : {kind::none, kind::terminator, kind::length_prefix})
    for (bool unique : {false, true})
      expect_sorts(in, byte_order{}, {.unique = unique, .framing = {how, '\0'}});
}

TEST(engine, sorts_records_of_one_length) {
  for (std::size_t length : {1, 7, 100, 3000}) {
    auto const make = [&](std::mt19937_64& random) { return random_text(random, length); };
    for (std::size_t threads : {1, 3})
      expect_sorts(
          make_records(length, 400'000, make), byte_order{},
          {.threads = threads, .item_bytes = length, .framing = {item_framing::kind::none}});
  }
}

TEST(engine, sorts_records_through_encoded_runs) {
  for (auto const& make :
       {make_record(short_record), make_record(long_record), make_record(alike_record)})
    for (std::size_t threads : {1, 2, 5})
      for (bool unique : {false, true}) {
        auto const in = make_records(threads, several_passes_bytes, make);
        setting s{.threads = threads, .disks = threads % 3, .unique = unique};
        s.memory_bytes = 160_KiB;
        auto const plain = expect_sorts(in, byte_order{}, s);
        s.codec = run_codec::always;
        auto const encoded = expect_sorts(in, byte_order{}, s);
        EXPECT_EQ(encoded.encoded_runs, encoded.runs);
        EXPECT_LT(encoded.run_disk_bytes, plain.run_disk_bytes);
      }
}

TEST(engine, sorts_records_of_one_length_through_encoded_runs) {
  for (std::size_t length : {1, 7, 100, 3000, 4090}) {
    auto const make = [&](std::mt19937_64& random) {
      std::string text = random_text(random, length);
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(length / 2), text.end(), 'x');
      return text;
    };
    for (std::size_t threads : {1, 3}) {
      auto const report = expect_sorts(make_records(length, 400'000, make), byte_order{},
                                       {.threads = threads,
                                        .item_bytes = length,
                                        .framing = {item_framing::kind::none},
                                        .codec = run_codec::always});
      EXPECT_EQ(report.encoded_runs, report.runs);
    }
  }
}

TEST(engine, merges_runs_of_very_different_lengths) {
  // Long records make short runs, short ones long runs; sorted stretches make runs that do not
  // overlap.
  records in;
  std::mt19937_64 random(13);
  for (int stretch = 0; stretch < 12; ++stretch) {
    auto part =
        make_records(random(), 50'000, stretch % 2 ? make_record(long_record) : short_record);
    if (stretch % 3 == 0) std::ranges::sort(part);
    if (stretch % 3 == 1) std::ranges::sort(part, std::greater<>());
    in.insert(in.end(), part.begin(), part.end());
  }
  for (std::size_t threads : {1, 5})
    expect_sorts(in, byte_order{}, {.threads = threads, .disks = 2});
}

TEST(engine, gives_the_same_bytes_for_any_threads_memory_and_blocks) {
  std::uint64_t number = 0;
  auto const make = [&](std::mt19937_64& random) {
    return long_record(random) + std::to_string(number++ % 100);
  };
  auto const in = make_records(17, 300'000, make);
  start_order const order{2};
  for (setting const& s :
       {setting{.threads = 1, .memory_bytes = 4_MiB}, setting{.threads = 4, .memory_bytes = 4_MiB},
        setting{.threads = 1, .memory_bytes = 128_KiB}, setting{.threads = 4, .disks = 4},
        setting{.memory_bytes = 512_KiB, .block_bytes = 8192},
        setting{.memory_bytes = 300_KiB, .block_bytes = 6000}})
    expect_sorts(in, order, s);
}

TEST(engine, keeps_a_long_record_among_short_ones_from_taking_a_block_for_each) {
  records in = make_records(19, 3'000'000, short_record);
  in.insert(in.begin() + 100, std::string(50'000, 'x'));
  auto const report =
      expect_sorts(in, byte_order{}, {.memory_bytes = 2_MiB, .block_bytes = 32_KiB});
  EXPECT_GT(report.runs, 0U);
}

TEST(engine, refuses_a_record_that_is_too_long_and_names_both_sizes) {
  setting const s{.memory_bytes = 256_KiB};
  for (std::size_t length : {40'000, 200'000, 400'000}) {
    auto in = make_records(23, 300'000, short_record);
    in[in.size() / 2] = std::string(length, 'x');
    sorting<byte_order> sort(s, byte_order{}, options_for(s, in));
    try {
      sort.run(in);
      ADD_FAILURE() << "accepted a record of " << length << " bytes";
    } catch (budget_error const& e) {
      EXPECT_NE(std::string(e.what()).find(std::to_string(length)), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("256 KiB of memory"), std::string::npos) << e.what();
    }
  }
}

TEST(engine, aligns_windows_in_the_output) {
  setting const s{.framing = {item_framing::kind::terminator}};
  auto const in = make_records(29, 300'000, short_record);
  sorting<byte_order> sort(s, byte_order{}, options_for(s, in));
  for (auto const& r : in) sort.engine.append(r);
  sort.engine.finish_input(512);
  std::uint64_t position = 0;
  while (auto window = sort.engine.next()) {
    ASSERT_EQ(window->lead, position % 512);
    ASSERT_GT(window->items, 0U);
    position += window->bytes;
    sort.engine.recycle(*window);
  }
  EXPECT_EQ(position, framed(in, s.framing).size());
}

TEST(engine, reports_progress_up_to_the_end) {
  setting const s;
  auto const in = make_records(31, several_passes_bytes, short_record);
  std::vector<sort_progress> seen;
  auto options = options_for(s, in);
  options.on_progress = [&](sort_progress const& p) { seen.push_back(p); };
  sorting<byte_order> sort(s, byte_order{}, options);
  sort.run(in);
  ASSERT_FALSE(seen.empty());
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].done_bytes, seen[i - 1].done_bytes);
    EXPECT_GE(seen[i].now, seen[i - 1].now);
  }
  EXPECT_EQ(sort.engine.progress().now, sort_progress::phase::done);
}

// ---- cancellation ----

TEST(engine, does_nothing_when_stopped_before_it_begins) {
  setting const s;
  auto const in = make_records(37, 300'000, short_record);
  std::stop_source source;
  source.request_stop();
  auto options = options_for(s, in);
  options.stop = source.get_token();
  storage store(disks_in_memory(s));
  using engine = sort_engine<record_items<byte_order>>;
  EXPECT_THROW(engine(store, record_items<byte_order>(bytes, 0), options, s.framing), cancelled);
  EXPECT_EQ(store.peak_allocated_bytes(), 0U);
}

TEST(engine, ends_soon_and_leaves_nothing_when_stopped_at_any_time) {
  std::uint64_t const seed = 41;
  std::mt19937_64 random(seed);
  setting const s{.disks = 2};
  auto const in = make_records(43, 400'000, short_record);
  std::string const want = framed(model(in, byte_order{}, false), s.framing);
  int stopped = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    storage store(disks_in_memory(s));
    std::stop_source source;
    auto options = options_for(s, in);
    options.stop = source.get_token();
    std::thread stopper([&source, after = std::chrono::microseconds(random() % 30'000)] {
      std::this_thread::sleep_for(after);
      source.request_stop();
    });
    try {
      sort_engine<record_items<byte_order>> engine(store, record_items<byte_order>(bytes, 0),
                                                   options, s.framing);
      for (auto const& r : in) engine.append(r);
      engine.finish_input();
      std::string out;
      while (auto window = engine.next()) {
        out.append(reinterpret_cast<char const*>(window->data().data()), window->bytes);
        engine.recycle(*window);
      }
      EXPECT_TRUE(out == want);
    } catch (cancelled const&) {
      ++stopped;
    }
    stopper.join();
    EXPECT_EQ(store.allocated_bytes(), 0U);
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
  }
  RecordProperty("stopped", stopped);
}

TEST(engine, stops_in_each_of_its_phases) {
  setting const s;
  auto const in = make_records(47, several_passes_bytes, short_record);
  using phase = sort_progress::phase;
  for (auto const when : {phase::forming_runs, phase::merging_runs, phase::writing_output}) {
    std::stop_source source;
    auto options = options_for(s, in);
    options.stop = source.get_token();
    options.on_progress = [&](sort_progress const& p) {
      if (p.now == when) source.request_stop();
    };
    sorting<byte_order> sort(s, byte_order{}, options);
    if (when == phase::merging_runs) {
      // Nothing reports from the intermediate merges: they end before the first window comes out.
      for (auto const& r : in) sort.engine.append(r);
      sort.engine.finish_input();
      while (sort.engine.progress().now < when) std::this_thread::yield();
      source.request_stop();
      EXPECT_THROW(while (auto window = sort.engine.next()) sort.engine.recycle(*window),
                   cancelled);
    } else {
      EXPECT_THROW(sort.run(in), cancelled);
    }
  }
}

TEST(engine, says_again_what_has_failed) {
  setting const s;
  auto const in = make_records(59, several_passes_bytes, short_record);
  std::size_t failed = 0;
  for (std::uint64_t reads = 0; reads < 60; ++reads) {
    auto const plan = std::make_shared<io::fault_plan>();
    storage store({.disks = {disk_options("faulty",
                                          [&](io::request_queue&) -> io::file_ptr {
                                            return std::make_unique<io::faulty_file>(
                                                io::make_memory_file("faulty"), plan);
                                          })},
                   .memory_bytes = 8_MiB,
                   .threads = 2});
    sort_engine<record_items<byte_order>> engine(store, record_items<byte_order>(bytes, 0),
                                                 options_for(s, in), s.framing);
    for (auto const& r : in) engine.append(r);
    plan->script(io::fault_point::read, plan->calls(io::fault_point::read) + 5 * reads,
                 io::fault::fail(EIO));
    try {
      engine.finish_input();
      while (auto window = engine.next()) engine.recycle(*window);
    } catch (io_error const&) {
      ++failed;
      EXPECT_THROW(engine.next(), io_error) << "after " << 5 * reads << " reads";
    }
  }
  EXPECT_GT(failed, 10U);
}

TEST(engine, may_be_dropped_at_any_time) {
  setting const s;
  auto const in = make_records(53, several_passes_bytes, short_record);
  for (std::size_t appended : {std::size_t{0}, std::size_t{10}, in.size() / 2, in.size()})
    for (int windows : {-1, 0, 1, 3}) {
      if (windows >= 0 && appended != in.size()) continue;
      storage store(disks_in_memory(s));
      {
        sort_engine<record_items<byte_order>> engine(store, record_items<byte_order>(bytes, 0),
                                                     options_for(s, in), s.framing);
        for (std::size_t i = 0; i < appended; ++i) engine.append(in[i]);
        if (windows >= 0) engine.finish_input();
        for (int w = 0; w < windows; ++w) engine.recycle(*engine.next());
      }
      EXPECT_EQ(store.allocated_bytes(), 0U);
      EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    }
}

}  // namespace
}  // namespace outsize::detail
