// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// record_reader: however the bytes come, the records are the same, and joined again they are the
// input; values of CSV survive being written and read.
//
//   byte 0   lines, records of one length, CSV
//   byte 1   the seed of the lengths of pieces
//   byte 2   the delimiter, the length, the separator
//   byte 3   the longest line; 255: any

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <outsize/record/record_reader.hpp>
#include <outsize/testing/pieced_input.hpp>
#include <outsize/text/csv_field.hpp>

#include "csv_model.hpp"
#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

constexpr std::uint64_t any_length = UINT64_MAX;

struct outcome {
  std::vector<std::string> records;
  std::string failure;
  std::optional<std::uint64_t> too_long;  // what a budget_error says is needed

  bool operator==(outcome const&) const = default;
};

/// What a reader makes of the text when it comes in such pieces.
template <typename MakeReader>
outcome read(std::string_view text, pieced_input::options how, MakeReader const& make) {
  pieced_input in(std::string(text), std::move(how));
  record_reader reader = make(in);
  outcome found;
  std::uint64_t consumed = 0;
  try {
    while (auto const record = reader.next()) {
      found.records.emplace_back(*record);
      require(reader.consumed_bytes() > consumed, "each record consumes bytes");
      consumed = reader.consumed_bytes();
    }
    require(reader.consumed_bytes() == text.size(), "at the end all bytes are consumed");
    require(!reader.next(), "the end stays the end");
  } catch (format_error const& e) {
    found.failure = e.what();
  } catch (budget_error const& e) {
    found.failure = e.what();
    found.too_long = e.need_bytes();
  }
  require(found.failure.find('\n') == std::string::npos, "a message is one line");
  return found;
}

/// The same outcome for all lengths of pieces. @throws broken_promise.
template <typename MakeReader>
outcome read_in_any_pieces(std::string_view text, std::uint8_t seed, MakeReader const& make) {
  auto const found = read(text, {.piece_bytes = text.size() + 1}, make);
  require(read(text, {.piece_bytes = 1}, make) == found, "bytes one by one give the same");
  require(read(text, {.seed = seed}, make) == found, "bytes in random pieces give the same");
  return found;
}

std::string joined(std::vector<std::string> const& records, char delimiter) {
  std::string all;
  for (std::string const& record : records) (all += record) += delimiter;
  return all;
}

void check_lines(std::string_view text, std::uint8_t seed, char delimiter, std::uint64_t longest) {
  auto const found = read_in_any_pieces(text, seed, [&](io::input_stream& in) {
    return record_reader::of_lines(in, delimiter, any_length, longest);
  });
  std::string whole(text);
  if (!whole.empty() && !whole.ends_with(delimiter)) whole += delimiter;
  auto const read_text = joined(found.records, delimiter);
  require(whole.starts_with(read_text), "lines are those of the input, one by one");
  for (auto const& line : found.records) require(line.size() <= longest, "no line is too long");
  require(found.too_long.has_value() == (read_text.size() != whole.size()),
          "all lines are read, but where one is too long");
  if (!found.too_long) return;
  auto const next = whole.substr(read_text.size());
  require(*found.too_long > longest && *found.too_long == next.find(delimiter),
          "the line that is refused is too long, and its length is told");
}

void check_records(std::string_view text, std::uint8_t seed, std::size_t record_bytes) {
  auto const found = read_in_any_pieces(text, seed, [&](io::input_stream& in) {
    return record_reader::of_records(in, record_bytes);
  });
  std::string all;
  for (std::string const& record : found.records) {
    require(record.size() == record_bytes, "records have one length");
    all += record;
  }
  auto const whole = text.size() / record_bytes * record_bytes;
  require(all == text.substr(0, whole), "records joined are the input");
  require(found.failure.empty() == (whole == text.size()), "a record cut short is refused");
}

void check_values(std::string const& record, csv_format format) {
  auto const values = csv_values(record, format);
  std::string room;
  auto const rewritten = csv_record(values, format);
  for (std::size_t i = 0; i <= values.size(); ++i) {
    auto const wanted = i < values.size() ? values[i] : std::string();
    require(text::csv_field(record, i, format, room) == wanted, "fields have their values");
    require(text::csv_field(rewritten, i, format, room) == wanted, "values survive quoting");
  }
  require(csv_values(rewritten, format) == values, "the model reads what it writes");
}

/// What ends the records of the text, by the first of them; LF where none has an end.
char end_of_csv(std::string_view text, line_format const& lines) {
  pieced_input in(std::string(text), {.piece_bytes = text.size() + 1});
  return record_reader::of_lines(in, lines, any_length).end_of_lines().value_or('\n');
}

void check_csv(std::string_view text, std::uint8_t seed, csv_format format, std::uint64_t longest) {
  line_format lines;
  lines.csv = format;
  auto const reader_of = [&](std::uint64_t most) {
    return [&lines, most](io::input_stream& in) {
      return record_reader::of_lines(in, lines, any_length, most);
    };
  };
  auto const found = read_in_any_pieces(text, seed, reader_of(any_length));
  require(!found.too_long, "nothing is too long without a limit");
  char const end = end_of_csv(text, lines);
  auto all = joined(found.records, end);
  std::string const mark(byte_order_mark);
  std::string whole(text.substr(text.starts_with(mark) ? mark.size() : 0));
  if (found.failure.empty() && !whole.empty() && !whole.ends_with(end)) {
    // The last record gets the end that the one before has.
    bool const has_cr = found.records.size() > 1 && !whole.ends_with('\r') &&
                        found.records[found.records.size() - 2].ends_with('\r');
    if (has_cr) whole += '\r';
    whole += end;
  }
  require(found.failure.empty() ? all == whole : whole.starts_with(all),
          "records of CSV joined are the input behind its mark");
  for (std::string const& record : found.records) {
    auto const alone = read(mark + end + record + end, {}, reader_of(any_length));
    require(alone.failure.empty() && alone.records == std::vector{std::string(), record},
            "a record is one record by itself");
    check_values(record, format);
  }
  // What is too long, or malformed, depends on how much of it is seen at once.
  auto const limited = read(text, {.seed = seed}, reader_of(longest));
  require(limited.records.size() <= found.records.size() &&
              std::equal(limited.records.begin(), limited.records.end(), found.records.begin()),
          "a limit only leaves out records at the end");
  require(limited == found || !limited.failure.empty(), "what is left out is told");
}

}  // namespace

void check(std::string_view input) {
  input_bytes bytes(input);
  auto const kind = bytes.take() % 3;
  auto const seed = bytes.take();
  auto const choice = bytes.take();
  auto const limit = bytes.take();
  auto const longest = limit == 255 ? any_length : limit;
  if (kind == 0) return check_lines(bytes.rest(), seed, static_cast<char>(choice), longest);
  if (kind == 1) return check_records(bytes.rest(), seed, 1 + choice % 64);
  check_csv(bytes.rest(), seed, chosen_format(choice), longest);
}

std::vector<std::string> seeds() {
  std::string const csv = std::string("\2\1\0\xff", 4);
  return {std::string("\0\1\n\xff", 4) + "one\ntwo\n\nlast",
          std::string("\0\2\0\x04", 4) + std::string("a\0bcde\0f", 8),
          "\1\1\3\xff" + std::string("aaaabbbbcccc"),
          "\1\1\7\xff" + std::string("cut short"),
          csv + "a,b\r\n\"c\r\n,\"\"d\"\"\",e\r\n\"\",f",
          csv + "a\"b,\"c\"d\n",
          csv + "a,b\n\"c,d\ne,f\n",
          csv + "\n\n\"\"\"\"\n",
          csv + "a,b\r\"c\r,\n\"\rd",
          csv + "a,b\rc\nd\r",
          csv + "\xEF\xBB\xBF\"a\nb\",c\nd,e\n",
          std::string("\2\5\2\x10", 4) + "name\tvalue\n\"x\t1\"\t\"y\r\"\r\n"};
}

std::size_t mutation_count() { return 40'000; }

}  // namespace outsize::fuzz
