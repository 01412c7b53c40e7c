// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// line_order against the machine's own sort: random options over small files made of whatever the
// orderings treat specially. The bytes must be the same, and so must be the combinations of options
// that are refused. Skipped where sort is not that of GNU coreutils 9.1, since -V and -h change.
#include <outsize/text/line_order.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace outsize::text {
namespace {

using engine = std::mt19937_64;

std::size_t below(engine& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

bool one_in(engine& random, std::size_t limit) { return below(random, limit) == 0; }

template <typename Items>
auto const& any_of(engine& random, Items const& items) {
  return items[below(random, std::size(items))];
}

// Options as sort's command line has them, and as line_order takes them.
struct test_case {
  std::string arguments;
  line_order_options options;
  char terminator = '\n';
};

// Any letters, or one ordering with letters that go with it, so that most cases are accepted.
std::string random_letters(engine& random) {
  std::string letters;
  if (one_in(random, 8)) {
    for (std::size_t count = 1 + below(random, 3); count > 0; --count) {
      letters += any_of(random, std::string_view("bdfghiMnRrV"));
    }
    return letters;
  }
  char const kind = any_of(random, std::string_view("dighnMVVRf "));
  if (kind != ' ') letters += kind;
  if (kind == 'V' && one_in(random, 3)) letters += any_of(random, std::string_view("di"));
  for (char const modifier : {'b', 'f', 'r'}) {
    if (one_in(random, 4)) letters += modifier;
  }
  return letters;
}

std::string random_position(engine& random, bool is_end) {
  std::string text = fmt::format("{}", 1 + below(random, 4));
  if (one_in(random, 3)) text += fmt::format(".{}", (is_end ? 0 : 1) + below(random, 5));
  return text;
}

std::string random_key(engine& random) {
  std::string key = random_position(random, false);
  if (one_in(random, 2)) key += random_letters(random);
  if (!one_in(random, 3)) {
    key += ',' + random_position(random, true);
    if (one_in(random, 4)) key += 'b';
    if (one_in(random, 8)) key += 'r';
  }
  return key;
}

std::string random_byte(engine& random) {
  return std::string(1, static_cast<char>(static_cast<unsigned char>(random())));
}

test_case random_case(engine& random) {
  test_case made;
  if (!one_in(random, 3)) {
    std::string const letters = random_letters(random);
    if (!letters.empty()) made.arguments += " -" + letters;
    for (char const letter : letters) set_option(made.options.global, letter);
  }
  if (one_in(random, 2)) {
    made.options.separator = any_of(random, std::string_view(": .\ta0\0", 7));
    made.arguments += *made.options.separator == '\0'
                          ? std::string(" -t '\\0'")
                          : fmt::format(" -t '{}'", *made.options.separator);
  }
  for (char& byte : made.options.salt.bytes) byte = random_byte(random)[0];
  for (std::size_t count = below(random, 4); count > 0; --count) {
    std::string const key = random_key(random);
    made.arguments += " -k " + key;
    made.options.keys.push_back(parse_key(key));
  }
  if (one_in(random, 4)) {
    made.arguments += " -u";
    made.options.unique = true;
  }
  if (one_in(random, 4)) {
    made.arguments += " -s";
    made.options.stable = true;
  }
  if (one_in(random, 4)) {
    made.arguments += " -z";
    made.terminator = '\0';
  }
  return made;
}

std::string random_number(engine& random) {
  std::string text = any_of(random, std::array{"", "-", "+", "--", "- ", "0", "-0", "\x80"});
  for (std::size_t count = below(random, one_in(random, 12) ? 90 : 4); count > 0; --count) {
    text += any_of(random, std::string_view("0000123456789995"));
    if (one_in(random, 16)) text += '\x80';
  }
  if (one_in(random, 3)) text += '.';
  for (std::size_t count = below(random, one_in(random, 12) ? 60 : 3); count > 0; --count) {
    text += any_of(random, std::string_view("0012599"));
  }
  if (one_in(random, 4)) text += any_of(random, std::string_view("kKmMGTPEZYRQg"));
  if (one_in(random, 4))
    text += any_of(random, std::array{"e5", "e-3", "E+40", "e", "e-4000", "p3"});
  return text;
}

std::vector<std::string> notable_words() {
  std::istringstream text(
      "JAN feb Mar APRIL may jun Jul aug sep OCT nov Dec ja inf -inf nan -nan NaN(7) nan(256) "
      "infinity 0x1.8p3 -0xff 0x 1e4000 -1e9999 1e-5000 a A b ab aB abc abc.tar.gz abc.txt abc-1.0 "
      "abc-1.00 abc-1.10~ ~ . .. .a ..a .~1~ v1 v01 v1.2.a 9007199254740993 9007199254740992 "
      "18446744073709551617 0.1 0.10000000000000001 / a/b _ @ [ ` {");
  return {std::istream_iterator<std::string>(text), {}};
}

std::string random_word(engine& random) {
  static std::vector<std::string> const words = notable_words();
  return any_of(random, words);
}

// One flavour per file, so that a file has many lines that are almost equal.
std::string random_line(engine& random, std::size_t flavour, char terminator) {
  std::string_view const blanks = terminator == '\0' ? " \t\n" : " \t";
  std::string line;
  for (std::size_t count = below(random, 6); count > 0; --count) {
    switch (flavour == 0 ? below(random, 5) : flavour - 1) {
      case 0:
        line += random_word(random);
        break;
      case 1:
        line += random_number(random);
        break;
      case 2:
        line += any_of(random, std::string_view("aAbB01.~-"));
        break;
      case 3:
        line += random_byte(random);
        break;
      default:
        line += any_of(random, std::string_view("a\0b\x80\xff~", 6));
        break;
    }
    if (one_in(random, 2)) line += any_of(random, blanks);
    if (one_in(random, 4)) line += any_of(random, std::string_view(": .\ta"));
  }
  std::erase(line, terminator);
  return line;
}

// GNU sort 9.1 compares two NaNs together with bytes that it never set, so what becomes of equal
// ones is left to chance there.
void remove_nans(std::string& line) {
  std::erase_if(line, [](char byte) { return byte == 'n' || byte == 'N'; });
}

bool has_general_key(line_order_options const& options) {
  auto const is_general = [](line_key const& key) { return key.order.general; };
  return options.global.general || std::ranges::any_of(options.keys, is_general);
}

std::vector<std::string> random_lines(engine& random, test_case const& tested) {
  std::vector<std::string> lines(below(random, 40));
  std::size_t const flavour = below(random, 6);
  for (auto& line : lines) {
    line = random_line(random, flavour, tested.terminator);
    if (has_general_key(tested.options)) remove_nans(line);
  }
  return lines;
}

std::string joined(std::vector<std::string> const& lines, char terminator) {
  std::string text;
  for (auto const& line : lines) (text += line) += terminator;
  return text;
}

std::vector<std::string> sorted(line_order const& order, std::vector<std::string> lines,
                                bool unique) {
  std::stable_sort(lines.begin(), lines.end(), [&](std::string const& a, std::string const& b) {
    return order.compare(a, b) < 0;
  });
  if (unique) {
    auto const end = std::unique(
        lines.begin(), lines.end(),
        [&](std::string const& a, std::string const& b) { return order.equal_keys(a, b); });
    lines.erase(end, lines.end());
  }
  return lines;
}

// Returns the number of pairs that `prefix` or `compare` get wrong.
int contradictions(line_order const& order, std::vector<std::string> const& lines) {
  auto const sign = [](int value) { return (value > 0) - (value < 0); };
  int count = 0;
  for (auto const& a : lines) {
    for (auto const& b : lines) {
      int const forth = order.compare(a, b);
      if (order.prefix(a) < order.prefix(b) && forth >= 0) ++count;
      if (sign(forth) != -sign(order.compare(b, a))) ++count;
    }
  }
  return count;
}

class gnu_sort : public testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "outsize_gnu_sort_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    run("sort --version", "");
    if (read("out").find("(GNU coreutils) 9.1\n") == std::string::npos) {
      GTEST_SKIP() << "sort is not GNU's 9.1, whose order is tested here";
    }
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  int run(std::string_view command, std::string_view input) const {
    std::ofstream(folder_ / "in", std::ios::binary) << input;
    return std::system(
        fmt::format("cd '{}' && LC_ALL=C {} <in >out 2>err", folder_.string(), command).c_str());
  }

  std::string read(std::string_view name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Returns whether the options were accepted.
  bool check(test_case const& tested, std::vector<std::string> const& lines) {
    auto const& salt = tested.options.salt.bytes;
    std::ofstream(folder_ / "salt", std::ios::binary).write(salt.data(), salt.size());
    int const status =
        run("sort --random-source=salt" + tested.arguments, joined(lines, tested.terminator));
    try {
      line_order const order(tested.options);
      EXPECT_EQ(status, 0) << read("err");
      EXPECT_EQ(joined(sorted(order, lines, tested.options.unique), tested.terminator),
                read("out"));
      EXPECT_EQ(contradictions(order, lines), 0);
      return true;
    } catch (std::invalid_argument const& refusal) {
      EXPECT_NE(status, 0);
      EXPECT_EQ(fmt::format("sort: {}\n", refusal.what()), read("err"));
      return false;
    }
  }

  std::filesystem::path folder_;
};

TEST_F(gnu_sort, agrees_for_random_options_and_lines) {
  char const* const given = std::getenv("OUTSIZE_TEST_SEED");
  std::uint64_t const seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  char const* const rounds = std::getenv("OUTSIZE_TEST_ROUNDS");
  fmt::print("OUTSIZE_TEST_SEED={}\n", seed);
  engine random(seed);
  int accepted = 0;
  int const cases = rounds ? std::atoi(rounds) : 200;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    test_case const tested = random_case(random);
    auto const lines = random_lines(random, tested);
    SCOPED_TRACE(fmt::format("case {}: sort{}", i, tested.arguments));
    accepted += int{check(tested, lines)};
  }
  EXPECT_GT(accepted, cases / 2);
}

TEST_F(gnu_sort, agrees_on_nans_that_differ) {
  test_case tested;
  tested.arguments = " -g";
  tested.options.global.general = true;
  EXPECT_TRUE(check(tested, {"nan(1)", "x", "-inf", "nan(256)", "-nan", "nan", "1", "nan(2)",
                             "-nan(1)", "NAN(0400000)", "nan(99999999999999999999)"}));
}

}  // namespace
}  // namespace outsize::text
