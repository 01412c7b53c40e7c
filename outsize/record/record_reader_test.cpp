// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Records cut from a stream of views of every size against records cut from the whole text.

#include <outsize/record/record_reader.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/pieced_input.hpp>

namespace outsize {
namespace {

/// Views of the given size (0: of random sizes).
pieced_input in_views(std::string text, std::size_t view_bytes) {
  return {std::move(text), {.piece_bytes = view_bytes}};
}

std::vector<std::string> all_of(record_reader reader) {
  std::vector<std::string> records;
  while (auto const r = reader.next()) records.emplace_back(*r);
  return records;
}

std::vector<std::string> lines_of(std::string const& text, std::size_t view_bytes,
                                  char delimiter = '\n') {
  auto in = in_views(text, view_bytes);
  return all_of(record_reader::of_lines(in, delimiter, 1000));
}

using texts = std::vector<std::string>;

TEST(record_reader, cuts_lines_wherever_the_views_end) {
  for (std::size_t view : {0, 1, 2, 3, 5, 100}) {
    EXPECT_EQ(lines_of("", view), texts{});
    EXPECT_EQ(lines_of("\n", view), texts{""});
    EXPECT_EQ(lines_of("\n\n", view), (texts{"", ""}));
    EXPECT_EQ(lines_of("one\ntwo\n", view), (texts{"one", "two"}));
    EXPECT_EQ(lines_of("one\n\nlast", view), (texts{"one", "", "last"}));
    EXPECT_EQ(lines_of(std::string("a\nb\0c\0", 6), view, '\0'), (texts{"a\nb", "c"}));
  }
}

TEST(record_reader, cuts_random_lines) {
  std::mt19937_64 random(7);
  texts want(300);
  std::string text;
  for (auto& line : want) {
    line = std::string(random() % 30, static_cast<char>('a' + random() % 26));
    text += line + '\n';
  }
  for (std::size_t view : {0, 1, 7, 64}) EXPECT_EQ(lines_of(text, view), want);
}

TEST(record_reader, cuts_records_of_one_length) {
  for (std::size_t view : {0, 1, 2, 3, 4, 100}) {
    auto in = in_views("aaabbbccc", view);
    EXPECT_EQ(all_of(record_reader::of_records(in, 3)), (texts{"aaa", "bbb", "ccc"}));
  }
}

TEST(record_reader, refuses_a_last_record_that_is_cut_short) {
  for (std::size_t view : {0, 1, 3, 100}) {
    auto in = in_views("aaabbbcc", view);
    try {
      all_of(record_reader::of_records(in, 3));
      FAIL() << "8 bytes were taken for records of 3";
    } catch (format_error const& e) {
      std::string const what = e.what();
      for (char const* part : {"pieces", "8", "3"})
        EXPECT_NE(what.find(part), std::string::npos) << what;
    }
  }
}

TEST(record_reader, refuses_a_line_that_is_too_long_and_names_both_sizes) {
  for (std::size_t view : {0, 1, 7, 1000})
    for (char const* end : {"", "\nnext\n"}) {
      auto in = in_views("short\n" + std::string(234, 'x') + end, view);
      auto reader = record_reader::of_lines(in, '\n', 1000);
      EXPECT_EQ(reader.next(), "short");
      try {
        reader.next();
        FAIL() << "a line of 234 bytes was accepted";
      } catch (budget_error const& e) {
        EXPECT_EQ(e.need_bytes(), 234U) << e.what();
        EXPECT_EQ(e.have_bytes(), 1000U) << e.what();
      }
    }
}

TEST(record_reader, tells_how_long_a_line_is_wherever_it_begins) {
  for (std::size_t view : {0, 1, 7, 300, 1000})
    for (std::string const front : {"", "a\n"}) {
      auto in = in_views(front + std::string(500, 'x') + "\nnext\n", view);
      auto reader = record_reader::of_lines(in, '\n', 1000);
      if (!front.empty()) {
        EXPECT_EQ(reader.next(), "a");
      }
      try {
        reader.next();
        FAIL() << "a line of 500 bytes was accepted";
      } catch (budget_error const& e) {
        EXPECT_EQ(e.need_bytes(), 500U) << e.what();
      }
    }
}

TEST(record_reader, accepts_a_line_of_a_fifth_of_the_budget) {
  for (std::size_t view : {0, 1, 7, 1000})
    for (char const* end : {"", "\n"})
      EXPECT_EQ(lines_of(std::string(200, 'x') + end, view), texts{std::string(200, 'x')});
}

TEST(record_reader, tells_what_it_can_cut_without_more_bytes_and_how_far_it_is) {
  auto in = in_views("ab\ncd\nef\ngh", 7);
  auto reader = record_reader::of_lines(in, '\n', 1000);
  EXPECT_FALSE(reader.next_at_hand());
  auto const first = reader.next();
  auto const second = reader.next_at_hand();
  EXPECT_EQ(first, "ab");
  EXPECT_EQ(second, "cd");
  EXPECT_EQ(reader.consumed_bytes(), 6U);
  EXPECT_FALSE(reader.next_at_hand());
  EXPECT_EQ(reader.next(), "ef");
  EXPECT_EQ(reader.next(), "gh");
  EXPECT_EQ(reader.consumed_bytes(), 11U);
  EXPECT_FALSE(reader.next());
}

/// As all_of(), but several at a time where they can be had.
std::vector<std::string> all_at_hand_of(record_reader reader, std::size_t at_once) {
  std::vector<std::string> records;
  std::vector<std::string_view> some(at_once);
  for (;;) {
    std::size_t const count = reader.next_at_hand(some);
    EXPECT_LE(count, at_once);
    records.insert(records.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    if (count > 0) continue;
    auto const one = reader.next();
    if (!one) return records;
    records.emplace_back(*one);
  }
}

TEST(record_reader, cuts_the_same_records_when_it_cuts_many_at_once) {
  std::mt19937_64 random(11);
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text +=
        std::string(random() % (i % 100 == 0 ? 150 : 40), static_cast<char>('a' + i % 26)) + '\n';
  text += "the last";
  line_format csv;
  csv.csv = csv_format{};
  for (std::size_t const view : {std::size_t{0}, std::size_t{1}, std::size_t{100}, text.size()})
    for (std::size_t const at_once : {1, 7, 64, 1000}) {
      auto in = in_views(text, view), again = in_views(text, view);
      EXPECT_EQ(all_at_hand_of(record_reader::of_lines(again, '\n', 1000), at_once),
                all_of(record_reader::of_lines(in, '\n', 1000)));
      auto csv_in = in_views(text, view), csv_again = in_views(text, view);
      EXPECT_EQ(all_at_hand_of(record_reader::of_lines(csv_again, csv, 1000), at_once),
                all_of(record_reader::of_lines(csv_in, csv, 1000)));
    }
  auto in = in_views("aaabbbccc", 100);
  EXPECT_EQ(all_at_hand_of(record_reader::of_records(in, 3), 2), (texts{"aaa", "bbb", "ccc"}));
}

TEST(record_reader, stops_in_front_of_a_line_that_is_too_long_when_it_cuts_many_at_once) {
  auto in = in_views("one\ntwo\n" + std::string(234, 'x') + "\nnext\n", 1000);
  auto reader = record_reader::of_lines(in, '\n', 1000);
  EXPECT_EQ(reader.next(), "one");
  std::vector<std::string_view> some(10);
  EXPECT_EQ(reader.next_at_hand(some), 1U);
  EXPECT_EQ(some[0], "two");
  EXPECT_EQ(reader.next_at_hand(some), 0U);
  EXPECT_THROW(reader.next(), budget_error);
}

std::string csv_failure(std::string const& text, std::size_t view_bytes,
                        std::size_t least_fields = 0) {
  auto in = in_views(text, view_bytes);
  line_format format;
  format.csv = csv_format{};
  format.least_fields = least_fields;
  try {
    all_of(record_reader::of_lines(in, format, 1000));
  } catch (std::exception const& e) {
    return e.what();
  }
  return "none";
}

texts csv_of(std::string const& text, std::size_t view_bytes) {
  auto in = in_views(text, view_bytes);
  line_format format;
  format.csv = csv_format{};
  return all_of(record_reader::of_lines(in, format, 1000));
}

TEST(record_reader, cuts_csv_wherever_the_views_end) {
  for (std::size_t view : {0, 1, 2, 3, 5, 100}) {
    EXPECT_EQ(csv_of("", view), texts{});
    EXPECT_EQ(csv_of("a,b\n\nc", view), (texts{"a,b", "", "c"}));
    EXPECT_EQ(csv_of("\"a\nb\",c\n\"\"\"\n\"\n", view), (texts{"\"a\nb\",c", "\"\"\"\n\""}));
    EXPECT_EQ(csv_of("a\r\n\"b\r\n\"\r\nc", view), (texts{"a\r", "\"b\r\n\"\r", "c\r"}));
    EXPECT_EQ(csv_of("a\"b\nc\n", view), (texts{"a\"b", "c"}));
  }
}

TEST(record_reader, steps_over_a_byte_order_mark_of_csv) {
  for (std::size_t view : {0, 1, 2, 3, 4, 5, 100}) {
    std::string const mark = "\xEF\xBB\xBF";
    for (std::string const text : {"", "\n", "a,b", "a\n\"b\"\n", "\"a,\nb\",c\nd,e\n"})
      EXPECT_EQ(csv_of(mark + text, view), csv_of(text, view)) << text;
    for (std::string const text : {"a\n", "\"a\",b\nc\n", "\"a\"b\n", "\"a"})
      EXPECT_EQ(csv_failure(mark + text, view, 2), csv_failure(text, view, 2)) << text;
    // What only begins like a mark is the first value's, as is one that is not in front.
    for (std::string const begin : {"\xEF", "\xEF\xBB", "\xEF\xBB\xBE", "\xBB\xBF"}) {
      EXPECT_EQ(csv_of(begin, view), texts{begin});
      EXPECT_EQ(csv_of(begin + "\na\n", view), (texts{begin, "a"}));
      EXPECT_EQ(csv_of(begin + "\"a\",\"b\n\"\n", view), texts{begin + "\"a\",\"b\n\""});
    }
    EXPECT_EQ(csv_of("\xEF\xBB\xBF\xEF\xBB\xBF\"a\n", view), texts{"\xEF\xBB\xBF\"a"});
    EXPECT_EQ(csv_of("a\n\xEF\xBB\xBF\"b\n", view), (texts{"a", "\xEF\xBB\xBF\"b"}));
    EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                       "a\n",
                       view),
              texts{"\xEF\xBB\xBF"
                    "a"});
  }
}

TEST(record_reader, tells_whether_there_is_a_byte_order_mark_and_how_far_it_is) {
  for (std::size_t view : {1, 2, 3, 100})
    for (std::string const begin : {"\xEF\xBB\xBF", "\xEF\xBB", ""}) {
      auto in = in_views(begin + "a,b\nc\n", view);
      line_format format;
      format.csv = csv_format{};
      auto reader = record_reader::of_lines(in, format, 1000);
      bool const is_mark = begin.size() == 3;
      EXPECT_EQ(reader.has_mark(), is_mark);
      EXPECT_FALSE(reader.next_at_hand());
      EXPECT_EQ(reader.next(), (is_mark ? "" : begin) + "a,b");
      EXPECT_EQ(reader.consumed_bytes(), begin.size() + 4);
      EXPECT_EQ(reader.next(), "c");
      EXPECT_EQ(reader.has_mark(), is_mark);
      EXPECT_FALSE(reader.next());
    }
}

TEST(record_reader, cuts_csv_whose_first_record_ends_in_cr_alone) {
  for (std::size_t view = 1; view < 20; ++view) {
    EXPECT_EQ(csv_of("a,b\rc,d\r", view), (texts{"a,b", "c,d"}));
    EXPECT_EQ(csv_of("a,b\r\rc,d", view), (texts{"a,b", "", "c,d"}));
    EXPECT_EQ(csv_of("\ra\r", view), (texts{"", "a"}));
    EXPECT_EQ(csv_of("a\r", view), texts{"a"});
    EXPECT_EQ(csv_of("\"a\r\",\"\n\"\r\"b\r\n\"\rc", view),
              (texts{"\"a\r\",\"\n\"", "\"b\r\n\"", "c"}));
    EXPECT_EQ(csv_of("\xEF\xBB\xBF\"a\r\"\rb\r", view), (texts{"\"a\r\"", "b"}));
    EXPECT_EQ(csv_of("\"a\r\"\r\nb\rc\r\n", view), (texts{"\"a\r\"\r", "b\rc\r"})) << "CR LF";
    EXPECT_EQ(csv_of("a\nb\rc\n", view), (texts{"a", "b\rc"})) << "LF";
  }
}

TEST(record_reader, says_where_csv_that_ends_in_cr_alone_has_another_end) {
  for (std::size_t view = 1; view < 20; ++view) {
    auto const line = [](std::string const& place) {
      return "pieces:" + place + ": a line ends in LF, though the first one ends in CR alone";
    };
    EXPECT_EQ(csv_failure("a,b\rc,d\n", view), line("2:4"));
    EXPECT_EQ(csv_failure("a\r\"b\r\n\"\r\"c\"\n", view), line("4:4"));
    EXPECT_EQ(csv_failure("a\rb\r\n", view), line("3:1"));
    EXPECT_EQ(csv_failure("a\r\"b\"c\r", view),
              "pieces:2:4: a quoted field goes on behind its quote");
    EXPECT_EQ(csv_failure("a\r\r\"b\r", view), "pieces:3:1: the quote is not closed");
  }
}

TEST(record_reader, knows_what_ends_the_lines) {
  auto const end_of = [](std::string const& text, std::size_t view) {
    line_format format;
    format.csv = csv_format{};
    pieced_input in(text, {.piece_bytes = view});
    auto reader = record_reader::of_lines(in, format, 1000);
    auto const end = reader.end_of_lines();
    EXPECT_EQ(reader.next().has_value(), !text.empty());
    return end;
  };
  for (std::size_t view = 1; view < 8; ++view) {
    EXPECT_EQ(end_of("a,b\rc", view), '\r');
    EXPECT_EQ(end_of("\"\r\"\r", view), '\r');
    EXPECT_EQ(end_of("a,b\r\nc", view), '\n');
    EXPECT_EQ(end_of("\"\r\"\nc", view), '\n');
    for (auto const* text : {"", "a,b", "\"\r\n\""}) EXPECT_EQ(end_of(text, view), std::nullopt);
  }
}

TEST(record_reader, says_where_fields_of_csv_are_missing) {
  for (std::size_t view : {0, 1, 2, 3, 5, 100}) {
    EXPECT_EQ(csv_failure("a,b\n\n\r\nc,\"d\ne\"\nf,g,\n", view, 2), "none");
    EXPECT_EQ(csv_failure("a,b\n\nc\n", view, 2),
              "pieces:3: a key is field 2, but there is only 1");
    EXPECT_EQ(csv_failure("\"a\n\",b,c\n\"d,e\n\",f\ng\n", view, 3),
              "pieces:3: a key is field 3, but there are only 2");
    EXPECT_EQ(csv_failure("a,b,\"c,d\"", view, 4),
              "pieces:1: a key is field 4, but there are only 3");
  }
}

TEST(record_reader, says_where_csv_is_malformed) {
  for (std::size_t view : {0, 1, 2, 3, 5, 100}) {
    EXPECT_EQ(csv_failure("a,b\n\"c\nd\",\"e\n\n", view), "pieces:3:4: the quote is not closed");
    EXPECT_EQ(csv_failure("\"a\nb\"\nc,\"d\"e\nf\n", view),
              "pieces:3:6: a quoted field goes on behind its quote");
    EXPECT_EQ(csv_failure("\"a\nbc\"d\n", view),
              "pieces:2:4: a quoted field goes on behind its quote");
  }
}

TEST(record_reader, refuses_records_of_csv_that_are_too_long) {
  for (std::size_t view : {0, 1, 7, 1000}) {
    EXPECT_EQ(csv_failure("a\n\"" + std::string(300, '\n'), view),
              "pieces:2: a record of more than 200 bytes is too long for a memory budget of 1000 "
              "bytes; is a quote not closed?");
    EXPECT_EQ(csv_failure("a\n\"" + std::string(198, '\n') + "\"", view), "none");
  }
}

}  // namespace
}  // namespace outsize
