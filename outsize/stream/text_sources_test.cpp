// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Texts are read as their lines or records, whatever blocks and encodings they come in.
#include <outsize/stream/text_sources.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

using strings = std::vector<std::string>;

struct texts : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};
  scratch::directory directory;
  std::string const path = directory.path("text");

  /// The items of a flow, which are the same by push and by pull.
  template <typename T, typename Make>
  std::vector<T> items_of(Make make) {
    auto const copy = [](auto const& item) { return T(item); };
    std::vector<T> pushed, pulled;
    run(store, make() | transform(copy) | into(std::back_inserter(pushed)));
    run(store, zip(make(), counter(std::uint64_t{0}, UINT64_MAX)) |
                   transform([&](auto const& item, std::uint64_t) { return T(item); }) |
                   into(std::back_inserter(pulled)));
    EXPECT_EQ(pushed, pulled);
    return pushed;
  }
  strings lines_of(std::string const& text, lines_options const& options = {}) {
    scratch::write_file(path, text);
    return items_of<std::string>([&] { return lines(path, options); });
  }
  /// The fields of all records, with | behind each, and the end of the record.
  strings fields_of(std::string const& text, csv_options const& options = {}) {
    scratch::write_file(path, text);
    return items_of<std::string>([&] { return csv(path, options) | transform(fields); });
  }
  static std::string fields(csv_record const& r) {
    std::string all;
    for (std::size_t i = 0; i < r.size(); ++i) (all += r.field(i)) += '|';
    return all;
  }
  /// The message of the error of a run.
  template <typename Flow>
  std::string error_of(Flow flow) {
    try {
      run(store, std::move(flow) | discard());
    } catch (std::exception const& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(texts, are_read_as_lines) {
  EXPECT_EQ(lines_of(""), strings());
  EXPECT_EQ(lines_of("\n"), strings{""});
  EXPECT_EQ(lines_of("one"), strings{"one"});
  EXPECT_EQ(lines_of("one\n\ntwo\r\nthree"), (strings{"one", "", "two\r", "three"}));
  EXPECT_EQ(lines_of("a;b\n;c", {.delimiter = ';'}), (strings{"a", "b\n", "c"}));
  EXPECT_EQ(lines_of("name\na\nb\n", {.header = true}), (strings{"a", "b"}));
  EXPECT_EQ(lines_of("", {.header = true}), strings());
  EXPECT_EQ(lines_of("name", {.header = true}), strings());
}

TEST_F(texts, are_read_as_lines_over_the_ends_of_blocks) {
  std::mt19937_64 random(1);
  strings expected;
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    std::size_t const length = i % 5000 == 4999 ? 100'000 : random() % 60;
    expected.push_back(std::string(length, static_cast<char>('a' + i % 26)));
    text += expected.back() + '\n';
  }
  EXPECT_EQ(lines_of(text), expected);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST_F(texts, in_utf_16_become_utf_8) {
  EXPECT_EQ(lines_of(std::string("\xFF\xFE\x61\0\x0A\0\xE4\0\x0A\0", 10), {.transcode = true}),
            (strings{"a", "\xC3\xA4"}));
}

TEST_F(texts, are_read_as_records_of_csv) {
  EXPECT_EQ(fields_of(""), strings());
  EXPECT_EQ(fields_of("a,b\n"), strings{"a|b|"});
  EXPECT_EQ(fields_of("a,,\"b,\n\"\r\n\nc"), (strings{"a||b,\n|", "", "c|"}));
  EXPECT_EQ(fields_of("\"say \"\"a\"\"\",\"\"\"b\"\"\"\n"), strings{"say \"a\"|\"b\"|"});
  EXPECT_EQ(fields_of("\xEF\xBB\xBFx;'y;'';'\n", {.format = {';', '\''}}), strings{"x|y;';|"});
  EXPECT_EQ(fields_of("name,city\na,b\n", {.header = true}), strings{"a|b|"});
  EXPECT_EQ(fields_of("a,b\rc,d\r"), (strings{"a|b|", "c|d|"}));
}

TEST_F(texts, are_read_as_records_over_the_ends_of_blocks) {
  strings expected;
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    std::string const number = std::to_string(i * 7919 % 10'007);
    std::string const padding(static_cast<std::size_t>(i % 50), 'x');
    text += number + ",\"" + padding + "\"\"\n\"," + number + "\r\n";
    expected.push_back(number + '|' + padding + "\"\n|" + number + '|');
  }
  EXPECT_EQ(fields_of(text), expected);
}

TEST_F(texts, have_fields_that_stay_while_others_are_looked_at) {
  scratch::write_file(path, "\"a\"\"1\",\"b\"\"2\",c\n\"d\"\"3\"\n");
  std::vector<std::size_t> sizes;
  auto const look = [&](csv_record const& r) {
    auto const first = r.field(0), second = r.field(1), first_again = r.field(0);
    sizes.push_back(r.size());
    return std::string(first) + '/' + std::string(second) + '/' + std::string(first_again) + '/' +
           std::string(r.field(7));
  };
  strings all;
  run(store, csv(path) | transform(look) | into(std::back_inserter(all)));
  EXPECT_EQ(all, (strings{"a\"1/b\"2/a\"1/", "d\"3//d\"3/"}));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 1}));
}

TEST_F(texts, have_records_that_operators_can_keep) {
  scratch::write_file(path, "\"a\"\"\",1\n\"a\"\"\",1\nb,1\nb,2\nb,2\n");
  EXPECT_EQ((items_of<std::string>([&] { return csv(path) | unique() | transform(fields); })),
            (strings{"a\"|1|", "b|1|", "b|2|"}));
  EXPECT_FALSE(external_item<csv_record>);
}

TEST_F(texts, end_early) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + ",x\n";
  scratch::write_file(path, text);
  EXPECT_EQ((items_of<std::string>([&] { return lines(path) | take(2); })),
            (strings{"0,x", "1,x"}));
  EXPECT_EQ((items_of<std::string>([&] { return lines(path) | async() | take(1); })),
            strings{"0,x"});
  EXPECT_EQ((items_of<std::string>([&] { return csv(path) | take(1) | transform(fields); })),
            strings{"0|x|"});
}

TEST_F(texts, that_cannot_be_read_are_named) {
  EXPECT_NE(error_of(lines(directory.path("missing"))).find("missing"), std::string::npos);
  EXPECT_NE(error_of(lines(directory.path())).find(directory.path()), std::string::npos);
  scratch::write_file(path, "a,b\n\"c\"d\n");
  EXPECT_NE(error_of(csv(path)).find("behind its quote"), std::string::npos) << error_of(csv(path));
  scratch::write_file(path, "a,b\nc\n");
  EXPECT_NE(error_of(csv(path, {.least_fields = 2})).find("text"), std::string::npos);
  scratch::write_file(path, std::string(2'000'000, 'x'));
  EXPECT_NE(error_of(lines(path)).find("memory"), std::string::npos) << error_of(lines(path));
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST_F(texts, count_their_bytes_for_progress) {
  scratch::write_file(path, std::string(10'000, '\n'));
  auto const report = run(store, lines(path) | discard());
  EXPECT_EQ(report.moved_bytes, 10'000U);
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(texts_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  scratch::directory const directory;
  scratch::write_file(directory.path("a"), "1,2\n3,4\n");
  EXPECT_EQ(run(store, lines(directory.path("a")) | count()), 2U);
  EXPECT_EQ(run(store, csv(directory.path("a"), {.header = true}) | count()), 1U);
}

}  // namespace
}  // namespace user_code
