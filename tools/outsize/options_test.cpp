// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The grammar of options, and the wording of what is refused.
#include <tools/outsize/options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outsize::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class options : public testing::Test {
 protected:
  options() : table_("demo [OPTIONS]", "Does nothing.") {
    auto const record = [this](std::string name) {
      return [this, name](std::string_view value) {
        seen_.push_back(name + "=" + std::string(value));
      };
    };
    table_.add({.letter = 'a', .name = "alpha", .help = "first", .handler = record("a")})
        .add({.letter = 'b',
              .name = "beta",
              .takes = argument::required,
              .value = "B",
              .help = "second",
              .handler = record("b")})
        .heading("more")
        .add({.name = "best",
              .takes = argument::optional,
              .value = "C",
              .help = "third",
              .handler = record("best")})
        .add({.letter = 'x', .handler = record("x")});
  }

  std::vector<std::string> parse(std::vector<std::string> words) {
    seen_.clear();
    std::string program = "demo";
    std::vector<char*> argv{program.data()};
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return table_.parse(static_cast<int>(words.size()) + 1, argv.data()).value();
  }

  std::string refusal(std::vector<std::string> const& words) {
    try {
      parse(words);
    } catch (usage_error const& error) {
      return error.what();
    }
    return "accepted";
  }

  option_table table_;
  std::vector<std::string> seen_;
};

TEST_F(options, may_stand_anywhere_bundled_and_abbreviated) {
  EXPECT_THAT(parse({"one", "-axb", "2", "--al", "two", "--beta=3", "-b4", "--", "-a"}),
              ElementsAre("one", "two", "-a"));
  EXPECT_THAT(seen_, ElementsAre("a=", "x=", "b=2", "a=", "b=3", "b=4"));
}

TEST_F(options, optional_arguments_follow_an_equals_sign) {
  EXPECT_THAT(parse({"--best", "1", "--best=2", "-"}), ElementsAre("1", "-"));
  EXPECT_THAT(seen_, ElementsAre("best=", "best=2"));
}

TEST_F(options, operands_are_shown_where_they_stand) {
  table_.operands([this](std::string_view word) {
    seen_.push_back(std::string(word));
    return word.starts_with('+');
  });
  EXPECT_THAT(parse({"one", "-a", "+1", "-x", "+2", "--", "+3", "-a"}),
              ElementsAre("one", "+3", "-a"));
  EXPECT_THAT(seen_, ElementsAre("one", "a=", "+1", "x=", "+2"));
  EXPECT_EQ(refusal({"+1", "-q"}), "unknown option -q");
  EXPECT_EQ(refusal({"+1", "-b"}), "option -b needs B");
}

TEST_F(options, refusals_name_what_was_written) {
  EXPECT_EQ(refusal({"-q"}), "unknown option -q");
  EXPECT_EQ(refusal({"-aq"}), "unknown option -q");
  EXPECT_EQ(refusal({"--frobnicate"}), "unknown option --frobnicate");
  EXPECT_EQ(refusal({"--be"}), "ambiguous option --be");
  EXPECT_EQ(refusal({"--alpha=1"}), "option --alpha takes no argument: '--alpha=1'");
  EXPECT_EQ(refusal({"--beta"}), "option --beta needs B");
  EXPECT_EQ(refusal({"-b"}), "option -b needs B");
}

TEST_F(options, help_shows_the_table) {
  auto const help = table_.help();
  EXPECT_THAT(help, HasSubstr("usage: demo [OPTIONS]\n"));
  EXPECT_THAT(help, HasSubstr("  -a, --alpha                 first\n"));
  EXPECT_THAT(help, HasSubstr("  -b, --beta=B                second\n"));
  EXPECT_THAT(help, HasSubstr("\nmore:\n      --best[=C]              third\n"));
  EXPECT_THAT(help, Not(HasSubstr("-x")));
}

TEST(counts, have_decimal_units) {
  EXPECT_EQ(parse_count("0", "count"), 0U);
  EXPECT_EQ(parse_count("12k", "count"), 12'000U);
  EXPECT_EQ(parse_count("3G", "count"), 3'000'000'000U);
  EXPECT_EQ(parse_count("18446744073709551615", "count"), 18446744073709551615U);
}

TEST(counts, refuse_by_name) {
  for (std::string const text : {"", "k", "-1", "1.5", "1K", "1kk", "18446744073709551616", "1e3",
                                 "18446744073709551615k", " 1"}) {
    try {
      parse_count(text, "count");
      ADD_FAILURE() << text;
    } catch (usage_error const& error) {
      EXPECT_EQ(error.what(), "count '" + text + "' is no count");
    }
  }
}

TEST(numbers, are_those_of_gnu_programs) {
  EXPECT_EQ(parse_capped_number("0", "-n"), 0U);
  EXPECT_EQ(parse_capped_number(" \t+012", "-n"), 12U);
  EXPECT_EQ(parse_capped_number("18446744073709551615", "-n"), UINT64_MAX);
  EXPECT_EQ(parse_capped_number("18446744073709551616", "-n"), UINT64_MAX);
  for (std::string const text : {"", " ", "+", "-1", "+-1", "++1", "+ 1", "1 ", "1k", "0x1"}) {
    try {
      parse_capped_number(text, "-n");
      ADD_FAILURE() << text;
    } catch (usage_error const& error) {
      EXPECT_EQ(error.what(), "-n '" + text + "' is no number");
    }
  }
}

TEST(operands, exactly_one) {
  EXPECT_EQ(single_operand({"a"}, "FILE"), "a");
  EXPECT_THROW(single_operand({}, "FILE"), usage_error);
  EXPECT_THROW(single_operand({"a", "b"}, "FILE"), usage_error);
}

}  // namespace
}  // namespace outsize::tool
