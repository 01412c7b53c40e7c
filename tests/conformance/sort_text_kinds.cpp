// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Records of one length, lines, CSV and byte strings.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/record_sort.hpp>
#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/base/units.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <outsize/text/csv_field.hpp>
#include <outsize/text/line_sort.hpp>
#include <tests/conformance/sort_kind.hpp>

namespace outsize::conformance {
namespace {

/// Records and what they are separated by: what the model sorts.
struct record_list {
  std::vector<std::string> records;
  std::string end;

  std::string joined() const {
    std::string all;
    for (auto const& record : records) all += record + end;
    return all;
  }
};

template <typename Order>
std::string expected_text(record_list list, way how, Order const& order) {
  std::ranges::stable_sort(list.records,
                           [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
  if (how == way::unique) {
    auto const same = [&](auto const& a, auto const& b) { return order.compare(a, b) == 0; };
    auto const rest = std::ranges::unique(list.records, same);
    list.records.erase(rest.begin(), rest.end());
  }
  return list.joined();
}

/// A kind whose order depends on the way, as `order_of(way)` says.
template <typename OrderOf, typename Sort>
kind text_kind(char const* name, record_list list, OrderOf order_of, Sort sort) {
  auto const given = std::make_shared<record_list const>(std::move(list));
  return {.name = name,
          .input = given->joined(),
          .expect = [=](auto const&, way how) { return expected_text(*given, how, order_of(how)); },
          .sort = sort,
          .memory_bytes = 2_MiB,
          .least_block_bytes = 1024,
          .combines = false,
          .case_stride = 2};
}

/// Calls sort(paths, options) with the input in a file.
template <typename Sort>
outcome sort_file(job const& work, Sort sort) {
  sort_paths const paths{{work.folder + "/in"}, work.folder + "/out"};
  if (!std::filesystem::exists(paths.inputs[0])) scratch::write_file(paths.inputs[0], work.input);
  sort_options options = work.options;
  options.unique = work.how == way::unique;
  auto const report = sort(paths, options);
  return {scratch::read_file(paths.output), report};
}

/// Records of `bytes` by four of them; others are the place.
kind records(char const* name, std::size_t bytes) {
  record_order const order(record_format::parse("bytes:" + std::to_string(bytes)),
                           {record_key::parse("4:4")}, false);
  std::mt19937_64 random(8);
  record_list list;
  for (std::size_t i = 0; i < 3'000'000 / bytes; ++i)
    list.records.push_back("head" + std::to_string(1000 + random() % 3000) +
                           std::string(bytes - 14, 'f') + std::to_string(100'000 + i));
  return text_kind(
      name, std::move(list), [order](way) { return order; },
      [order](job const& work) {
        return sort_file(work, [&](auto const& paths, auto const& options) {
          return sort_records(work.store, paths, order, options);
        });
      });
}

text::line_order_options options_of(way how) {
  return {.stable = how == way::stable, .unique = how == way::unique};
}

/// Lines by a number in the middle.
kind lines() {
  auto const order_of = [](way how) {
    auto options = options_of(how);
    options.separator = ',';
    options.keys = {text::parse_key("2,2n")};
    return text::line_order(options);
  };
  std::mt19937_64 random(9);
  record_list list{{}, "\n"};
  for (std::size_t i = 0; i < 25'000; ++i)
    list.records.push_back(std::string(50 + random() % 90, 'x') + "," +
                           std::to_string(random() % 4000) + "," + std::to_string(random() % 100));
  return text_kind("lines", std::move(list), order_of, [order_of](job const& work) {
    return sort_file(work, [&](auto const& paths, auto const& options) {
      return text::sort_lines(work.store, paths, order_of(work.how), {}, options);
    });
  });
}

/// Records of CSV by two fields, of which the first is quoted in places, with all that needs it.
kind csv() {
  auto const order_of = [](way how) {
    auto options = options_of(how);
    options.csv = csv_format();
    options.keys = {text::one_field_key(text::parse_key("2r")),
                    text::one_field_key(text::parse_key("3n"))};
    return text::line_order(options);
  };
  std::mt19937_64 random(10);
  record_list list{{}, "\n"};
  for (std::size_t i = 0; i < 25'000; ++i) {
    std::string record(60 + random() % 60, 'y');
    std::string const value = "a\"b,\n" + std::to_string(random() % 60);
    record += ',';
    text::append_csv_field(record, random() % 2 == 0 ? value : value.substr(5), {});
    list.records.push_back(record + "," + std::to_string(random() % 60));
  }
  return text_kind("csv", std::move(list), order_of, [order_of](job const& work) {
    return sort_file(work, [&](auto const& paths, auto const& options) {
      line_format format;
      format.csv = csv_format();
      return text::sort_lines(work.store, paths, order_of(work.how), format, options);
    });
  });
}

/// Byte strings of many lengths, short ones more than once, by all of their bytes.
kind strings() {
  std::mt19937_64 random(11);
  record_list list{{}, "\n"};
  for (std::size_t bytes = 0; bytes < 2'500'000; bytes += list.records.back().size()) {
    std::string record(random() % 4 * 9, 'z');  // in common
    for (std::size_t i = random() % 3 * (random() % 80); i > 0; --i)
      record += static_cast<char>('A' + random() % 26);
    list.records.push_back(record);
  }
  auto const given = std::make_shared<std::vector<std::string> const>(list.records);
  return text_kind(
      "strings", std::move(list), [](way) { return byte_order(); },
      [given](job const& work) {
        sort_options options = work.options;
        options.unique = work.how == way::unique;
        record_sorter<byte_order> sorter(work.store, {}, options);
        for (auto const& record : *given) sorter.push(record);
        outcome result;
        for (sorter.sort(); !sorter.empty(); ++sorter) (result.bytes += *sorter) += '\n';
        result.report = sorter.report();
        return result;
      });
}

}  // namespace

void add_text_kinds(std::vector<kind>& kinds) {
  kinds.push_back(records("records_24_bytes", 24));
  kinds.push_back(records("records_100_bytes", 100));
  kinds.push_back(lines());
  kinds.push_back(csv());
  kinds.push_back(strings());
}

}  // namespace outsize::conformance
