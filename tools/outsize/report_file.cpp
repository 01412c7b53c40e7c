// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/report_file.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include <outsize/base/units.hpp>
#include <tools/outsize/json_file.hpp>

namespace outsize::tool {
namespace {

using fact_list = decltype(pipeline::run_page::facts);

/// Names, of more than `most` the first ones and how many others there are.
std::string listed(std::vector<std::string> const& names, std::size_t most,
                   std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    if (i > 0) text += separator;
    text += names[i];
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string format_time(double seconds) { return fmt::format("{:.2f} s", seconds); }

fact_list first_facts(command_facts const& of) {
  fact_list facts;
  if (of.inputs == std::vector<std::string>{"-"}) {
    facts.emplace_back("input", "standard input");
  } else if (!of.inputs.empty()) {
    facts.emplace_back("input", listed(of.inputs, 20, ", "));
  }
  facts.emplace_back("output", of.output == "-" ? "standard output" : of.output);
  facts.emplace_back("time", format_time(of.seconds));
  if (of.seconds > 0 && of.input_bytes > 0) {
    double const rate = static_cast<double>(of.input_bytes) / of.seconds;
    facts.emplace_back("throughput", format_bytes(static_cast<std::uint64_t>(rate)) + "/s");
  }
  return facts;
}

/// The same as in reports of JSON.
fact_list resource_facts(outsize::storage& store) {
  auto const fields = resource_fields(store);
  auto const time = [&](char const* name) { return format_time(fields.at(name).get<double>()); };
  return {
      {"threads", fmt::format("{}", fields.at("threads").get<std::uint64_t>())},
      {"time of processors", time("cpu_seconds")},
      {"time of waiting for disks", time("io_wait_seconds")},
      {"resident memory, at most", format_bytes(fields.at("peak_rss_bytes").get<std::uint64_t>())},
      {"system calls for files", fields.at("backend").get<std::string>()}};
}

std::vector<pipeline::run_page::volume> volumes_of(
    outsize::storage& store, std::optional<predicted_volumes> const& predicted) {
  auto const files = store.file_statistics().snapshot();
  auto const blocks = store.total_statistics() - files;
  auto const expected = [&](std::uint64_t predicted_volumes::*of) {
    return predicted ? std::optional((*predicted).*of) : std::nullopt;
  };
  std::string const note = predicted ? predicted->blocks_note : "";
  return {{"files, read", expected(&predicted_volumes::files_read), files.read_bytes},
          {"files, written", expected(&predicted_volumes::files_written), files.write_bytes},
          {"temporary blocks, read", expected(&predicted_volumes::blocks_read), blocks.read_bytes,
           note},
          {"temporary blocks, written", expected(&predicted_volumes::blocks_written),
           blocks.write_bytes, note}};
}

}  // namespace

std::string title_of(std::string const& command, std::vector<std::string> const& inputs) {
  std::string const names = listed(inputs, 3, " ");
  return "outsize " + command + (names.empty() ? "" : " " + names);
}

void report_file::write(pipeline::run_page page, command_facts const& facts) {
  sampler_.finish();
  auto all = first_facts(facts);
  auto const resources = resource_facts(store_);
  all.insert(all.end(), std::move_iterator(page.facts.begin()),
             std::move_iterator(page.facts.end()));
  all.insert(all.end(), resources.begin(), resources.end());
  page.facts = std::move(all);
  page.load = std::move(load_);
  page.volumes = volumes_of(store_, facts.predicted);
  file_.write(page.html());
  file_.close();
}

}  // namespace outsize::tool
