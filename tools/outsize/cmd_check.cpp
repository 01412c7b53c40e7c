// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize check`: one scan of a file tells its count, whether it is in order, how many items equal
// the one before, and a checksum that does not depend on the order; --against holds count and
// checksum against those of another file, scanned at the same time. Layer: tools.
#include <cstdint>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/printable_text.hpp>
#include <outsize/text/line_order.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/json_file.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/multiset_checksum.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/record_scan.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

struct check_request {
  key_options keys;
  compression_options codecs;
  std::string file;
  std::optional<std::string> against;
  std::optional<std::string> json;

  char const* item_name() const { return keys.format ? "record" : "line"; }
};

/// The first item that must not stand where it stands.
struct disorder {
  std::uint64_t item;  // counted from 1
  std::uint64_t line;  // the same, but for records of CSV
  std::uint64_t offset_bytes;
};

struct file_report {
  multiset_checksum checksum;
  std::uint64_t bytes = 0;
  std::uint64_t duplicates = 0;
  std::optional<disorder> first_disorder = {};
};

option_table check_options(check_request& request) {
  option_table table(
      "outsize check [OPTIONS] FILE [--against FILE2]",
      "Reads FILE (- is standard input) once and tells the number of its lines or binary records,\n"
      "whether they are in order, how many equal the one before, and a checksum that does not\n"
      "depend on their order. Exit status: 0 in order (and the same contents as FILE2), 1 not.");
  table
      .add({.name = "against",
            .takes = argument::required,
            .value = "FILE2",
            .help = "demand the same items as there, in any order",
            .handler = [&](std::string_view text) { request.against = text; }})
      .add(json_row(request.json))
      .heading("what the items are and how they compare, as for outsize sort")
      .add(key_option_rows(request.keys))
      .heading("compressed files")
      .add(decompression_rows(request.codecs));
  return table;
}

/// Most neighbours differ in their prefixes, which then say all: in which order they are, and that
/// neither is a duplicate.
template <typename Order>
file_report scan_ordered(record_scan scan, Order const& order, key_options const& keys) {
  file_report report;
  std::uint64_t previous_prefix = 0;
  while (scan.next()) {
    auto const item = scan.current();
    report.checksum.add(item);
    if (keys.header && scan.count() == 1) continue;
    std::uint64_t const prefix = order.prefix(item);
    bool is_disorder = prefix < previous_prefix;
    if (prefix == previous_prefix && scan.count() > (keys.header ? 2 : 1)) {
      bool const is_duplicate = scan.previous() == item;
      if (is_duplicate) ++report.duplicates;
      int const difference = is_duplicate ? 0 : order.compare(scan.previous(), item);
      is_disorder = difference > 0 || (difference == 0 && keys.unique);
    }
    if (is_disorder && !report.first_disorder) {
      report.first_disorder = {scan.count(), scan.line(), scan.offset_bytes()};
    }
    previous_prefix = prefix;
  }
  report.bytes = scan.consumed_bytes();
  return report;
}

/// Looks now and then whether the count is still wanted; if not, it is of no use.
file_report scan_any_order(record_scan scan, std::stop_token const& stop) {
  constexpr std::uint64_t items_between_looks = 1 << 12;
  file_report report;
  while (scan.next()) {
    report.checksum.add(scan.current());
    if (scan.count() % items_between_looks == 0 && stop.stop_requested()) break;
  }
  report.bytes = scan.consumed_bytes();
  return report;
}

/// The scan of the file to hold against, under way. Whoever no longer wants it need not wait until
/// all has been read.
class other_scan {
 public:
  explicit other_scan(record_scan scan)
      : report_(
            std::async(std::launch::async, scan_any_order, std::move(scan), stop_.get_token())) {}
  other_scan(other_scan const&) = delete;
  other_scan& operator=(other_scan const&) = delete;
  ~other_scan() { stop_.request_stop(); }

  /// Waits for the end. Call it once. @throws what the scan threw.
  file_report get() { return report_.get(); }

 private:
  std::stop_source stop_;
  std::future<file_report> report_;  // its destructor waits for the thread
};

void print_report(check_request const& request, file_report const& report,
                  std::optional<file_report> const& other) {
  char const* const item = request.item_name();
  fmt::print("{:<12}{}\n", fmt::format("{}s", item), report.checksum.count);
  fmt::print("{:<12}{}\n", "bytes", report.bytes);
  if (report.first_disorder) {
    fmt::print("{:<12}not sorted: {} {} (at byte {}) {}\n", "order", item,
               report.first_disorder->line, report.first_disorder->offset_bytes,
               request.keys.unique ? "does not come after the one before"
                                   : "belongs before the one before");
  } else {
    fmt::print("{:<12}{}\n", "order", request.keys.unique ? "sorted, no equal keys" : "sorted");
  }
  fmt::print("{:<12}{}\n", "duplicates", report.duplicates);
  fmt::print("{:<12}{}\n", "checksum", report.checksum.text());
  if (!other) return;
  if (other->checksum == report.checksum) {
    fmt::print("{:<12}the same {}s as {}\n", "contents", item, printable(*request.against));
  } else {
    fmt::print("{:<12}not the same as {}: {} {}s there, checksum {}\n", "contents",
               printable(*request.against), other->checksum.count, item, other->checksum.text());
  }
}

nlohmann::ordered_json fields_of(check_request const& request, file_report const& report,
                                 std::optional<file_report> const& other) {
  nlohmann::ordered_json object{{"file", request.file},
                                {"items", report.checksum.count},
                                {"input_bytes", report.bytes},
                                {"sorted", !report.first_disorder},
                                {"first_disorder", nullptr},
                                {"duplicates", report.duplicates},
                                {"checksum", report.checksum.text()}};
  if (report.first_disorder) {
    object["first_disorder"] = {{"item", report.first_disorder->item},
                                {"offset_bytes", report.first_disorder->offset_bytes}};
  }
  if (other) {
    object["against"] = {{"file", *request.against},
                         {"items", other->checksum.count},
                         {"input_bytes", other->bytes},
                         {"checksum", other->checksum.text()},
                         {"same", other->checksum == report.checksum}};
  }
  return object;
}

}  // namespace

int cmd_check(int argc, char** argv) {
  check_request request;
  auto const operands = check_options(request).parse(argc, argv);
  if (!operands) return exit_done;
  request.file = single_operand(*operands, "FILE");
  if (request.against == "-" && request.file == "-") {
    throw usage_error("standard input cannot be held against itself");
  }
  std::vector<std::string> inputs{request.file};
  for (auto const& other : {request.against, request.keys.chance.source})
    if (other) inputs.push_back(*other);
  refuse_same_files(inputs, {{"standard output", "-"}, {"--json", request.json}});

  // Everything that can be refused is refused before the first byte is read.
  auto const order = request.keys.any_order();
  memory_budget codec_memory(codec_bytes_beside_scans(request.against ? 2 : 1));
  auto scan = open_scan(request.keys, request.codecs, request.file, codec_memory);
  auto const json = open_json(request.json);
  std::optional<other_scan> pending;
  if (request.against)
    pending.emplace(open_scan(request.keys, request.codecs, *request.against, codec_memory));
  auto const report = std::visit(
      [&](auto const& by) { return scan_ordered(std::move(scan), by, request.keys); }, order);
  std::optional<file_report> other;
  if (pending) other = pending->get();

  if (json) json->write(fields_of(request, report, other));
  print_report(request, report, other);
  bool const is_same = !other || other->checksum == report.checksum;
  return !report.first_disorder && is_same ? exit_done : exit_no;
}

}  // namespace outsize::tool
