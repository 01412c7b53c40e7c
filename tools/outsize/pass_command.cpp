// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/pass_command.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/progress_line.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/compression.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/option_rows.hpp>

namespace outsize::tool {
namespace {

/// "x.svg", "x.2.svg", …
std::string numbered(std::string const& path, std::size_t index) {
  if (index == 0) return path;
  std::filesystem::path p(path);
  p.replace_extension(fmt::format("{}{}", index + 1, p.extension().string()));
  return p.string();
}

/// More passes than any program has; those behind get no reports.
constexpr std::size_t most_reports = 64;

/// All files that may be written, those of later passes with them: how many there will be is known
/// after the work only.
std::vector<named_output> outputs_of(pass_request const& request) {
  std::vector<named_output> outputs{{"the output", request.output, true},
                                    {"--json", request.work.json},
                                    {"--trace", request.work.trace},
                                    {"--report", request.work.report},
                                    {"--svg", request.picture}};
  for (std::size_t i = 1; i < most_reports; ++i) {
    if (request.work.trace)
      outputs.push_back({"--trace of a later pass", numbered(*request.work.trace, i)});
    if (request.picture)
      outputs.push_back({"--svg of a later pass", numbered(*request.picture, i)});
  }
  return outputs;
}

/// Writes the text to the first file, which is open, or to one of its own.
void write_numbered(std::string const& path, std::size_t index, output_file& first,
                    std::string const& text) {
  std::optional<output_file> other;
  output_file& file = index == 0 ? first : other.emplace(numbered(path, index));
  file.write(text);
  file.close();
}

nlohmann::ordered_json fields_of(pass_outcome const& o) {
  nlohmann::ordered_json passes = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < o.networks.size(); ++i) {
    passes.push_back({{"name", o.networks[i].name}, {"seconds", o.networks[i].seconds}});
    if (o.requests.empty()) continue;
    passes.back()["read_request_bytes"] = o.requests[i].read_bytes;
    passes.back()["write_request_bytes"] = o.requests[i].write_bytes;
  }
  return {{"items", o.records},
          {"passes", o.passes},
          {"seconds", o.seconds},
          {"read_bytes", o.read_bytes},
          {"written_bytes", o.written_bytes},
          {"memory_bytes", o.memory_bytes},
          {"block_bytes", o.block_bytes},
          {"networks", passes}};
}

}  // namespace

storage_options pass_request::storage() const {
  constexpr std::size_t requests_under_way = 128;
  storage_options options = work.storage();
  options.depth = requests_under_way;
  return options;
}

std::vector<option> pass_rows(pass_request& into) {
  return {output_row(into.output, "write there; may be the input"),
          text_row(0, "svg", "FILE", "draw what ran, with its throughput and waits", into.picture)};
}

pass_reports::pass_reports(std::string command, pass_request const& request,
                           outsize::storage& store)
    : command_(std::move(command)),
      input_(request.input),
      output_(request.output),
      store_(store),
      picture_path_(request.picture),
      trace_path_(request.work.trace),
      json_(open_json(request.work.json)) {
  if (picture_path_) first_picture_.emplace(*picture_path_);
  if (trace_path_) first_trace_.emplace(*trace_path_);
  if (request.work.report) page_.emplace(*request.work.report, store);
}

void pass_reports::write(pass_outcome const& outcome) {
  if (json_) {
    auto report = fields_of(outcome);
    report.update(resource_fields(store_));
    report["queue_depth"] = store_.file_queue().depth();
    json_->write(report);
  }
  for (std::size_t i = 0; i < std::min(outcome.networks.size(), most_reports); ++i) {
    auto const& network = outcome.networks[i];
    if (picture_path_) write_numbered(*picture_path_, i, *first_picture_, network.svg());
    if (trace_path_) write_numbered(*trace_path_, i, *first_trace_, network.chrome_trace());
  }
  if (page_) write_page(outcome);
}

/// Each pass reads and writes the whole file.
void pass_reports::write_page(pass_outcome const& outcome) {
  std::uint64_t const bytes = outcome.records * outcome.record_bytes;
  pipeline::run_page page{.title = title_of(command_, {input_})};
  page.facts = {{"records", fmt::format("{}", outcome.records)},
                {"length of the records", format_bytes(bytes)},
                {"passes", fmt::format("{}", outcome.passes)},
                {"block", format_bytes(outcome.block_bytes)},
                {"memory used", format_bytes(outcome.memory_bytes)}};
  page.networks = outcome.networks;
  page_->write(std::move(page),
               {.inputs = {input_},
                .output = output_,
                .seconds = outcome.seconds,
                .input_bytes = bytes,
                .predicted = predicted_volumes{.files_read = outcome.passes * bytes,
                                               .files_written = outcome.passes * bytes}});
}

bool parse_pass_request(option_table const& table, int argc, char** argv, pass_request& into) {
  auto const operands = table.parse(argc, argv);
  if (!operands) return false;
  into.input = single_operand(*operands, "input file");
  if (into.output.empty()) throw usage_error("no output given; use -o FILE");
  if (into.output == "-")
    throw usage_error(
        "-o -: the output is written here and there, as no stream can be; name a file");
  for (auto const& path : {into.input, into.output}) {
    std::error_code failure;
    if (std::filesystem::is_other(path, failure) && !std::filesystem::is_block_file(path, failure))
      throw usage_error(fmt::format("{}: not a file; it must be read and written anywhere", path));
    if (auto const promised = io::promise_of_name(path); !promised.empty())
      throw usage_error(
          fmt::format("{}: its name promises {}, but here bytes are read and written as they are",
                      path, promised));
  }
  return true;
}

int run_pass_command(
    std::string const& name, pass_request const& request, storage_options const& options,
    std::function<pass_outcome(outsize::storage&, numeric::pass_listener const&)> const& program) {
  auto const outputs = outputs_of(request);
  refuse_same_files({request.input}, request.work, outputs);
  interruption const ends_cleanly(name);
  return naming_memory(request.work, [&] {
    outsize::storage store(options);
    for (named_output const& output : outputs)
      if (!output.may_be_input) refuse_disks(store, {output.path});
    pass_reports reports(name, request, store);
    std::optional<progress_line> bar;
    numeric::pass_listener listener;
    if (request.work.shows_progress()) {
      bar.emplace();
      listener = [&](numeric::pass_progress const& now) {
        bar->show(fmt::format("pass {} of {}", now.pass, now.passes), now.done_bytes,
                  now.total_bytes);
      };
    }
    pass_outcome const outcome = program(store, listener);
    bar.reset();
    reports.write(outcome);
    return exit_done;
  });
}

}  // namespace outsize::tool
