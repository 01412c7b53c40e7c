// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/work_options.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/progress_line.hpp>
#include <outsize/base/units.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/option_words.hpp>
#include <tools/outsize/output_file.hpp>

namespace outsize::tool {
namespace {

/// A size in GNU sort's units: a bare number counts KiB, % is of this machine's memory.
std::uint64_t parse_memory(std::string_view text) {
  if (!text.ends_with('%')) return parse_bytes(text, 1_KiB);
  double percent = 0;
  auto const digits = text.substr(0, text.size() - 1);
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (error != std::errc{} || end != digits.data() + digits.size() || percent < 0 || percent > 100)
    throw usage_error(fmt::format("invalid size '{}'", text));
  return static_cast<std::uint64_t>(percent / 100 * static_cast<double>(available_memory_bytes()));
}

std::size_t parse_threads(std::string_view text) {
  std::uint64_t const threads = parse_count(text, "number of threads");
  constexpr std::uint64_t most = 1024;
  if (threads == 0 || threads > most)
    throw usage_error(fmt::format("number of threads '{}' is not between 1 and {}", text, most));
  return threads;
}

/// The library refuses a file too, but later, and without naming the option.
void add_directory(work_options& into, std::string_view path) {
  std::error_code ignored;
  std::filesystem::path const directory(path);
  if (std::filesystem::exists(directory, ignored) &&
      !std::filesystem::is_directory(directory, ignored))
    throw usage_error(fmt::format("-T {}: not a directory", path));
  into.directories.emplace_back(path);
}

option text_row(std::string name, std::string value, std::string help,
                std::optional<std::string>& into) {
  return {.name = std::move(name),
          .takes = argument::required,
          .value = std::move(value),
          .help = std::move(help),
          .handler = [&into](std::string_view text) { into = text; }};
}

void write_file(std::string const& path, std::string const& text) {
  output_file out(path);
  out.write(text);
  out.close();
}

/// "x.svg", "x.2.svg", …
std::string numbered(std::string const& path, std::size_t index) {
  if (index == 0) return path;
  std::filesystem::path p(path);
  p.replace_extension(fmt::format("{}{}", index + 1, p.extension().string()));
  return p.string();
}

double seconds(timeval const& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

/// Where a file of that name is, or will be; none for standard streams, devices and pipes, and what
/// cannot be found out, which is told when the file is opened.
std::optional<std::filesystem::path> place_of(std::string const& path) {
  if (path == "-") return std::nullopt;
  std::error_code failure;
  auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, failure), failure);
  if (failure || std::filesystem::is_other(place, failure)) return std::nullopt;
  return place;
}

std::string json_of(outsize::storage& store, pass_outcome const& o) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json passes = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < o.networks.size(); ++i) {
    passes.push_back({{"name", o.networks[i].name}, {"seconds", o.networks[i].seconds}});
    if (o.requests.empty()) continue;
    passes.back()["read_request_bytes"] = o.requests[i].read_bytes;
    passes.back()["write_request_bytes"] = o.requests[i].write_bytes;
  }
  nlohmann::ordered_json const object{
      {"items", o.records},
      {"passes", o.passes},
      {"seconds", o.seconds},
      {"read_bytes", o.read_bytes},
      {"written_bytes", o.written_bytes},
      {"io_wait_seconds", static_cast<double>(store.total_statistics().wait_ns) * 1e-9},
      {"cpu_seconds", processor_seconds()},
      {"memory_bytes", o.memory_bytes},
      {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
      {"threads", store.threads().threads()},
      {"block_bytes", o.block_bytes},
      {"networks", passes},
      {"queue_depth", store.file_queue().depth()},
      {"backend", store.file_queue().name()}};
  return object.dump(2) + '\n';
}

constexpr std::array codec_words{option_word<run_codec>{"auto", run_codec::automatic},
                                 option_word<run_codec>{"none", run_codec::none},
                                 option_word<run_codec>{"always", run_codec::always}};

std::size_t parse_fan_in(std::string_view text) {
  std::uint64_t const fan_in = parse_count(text, "--batch-size");
  if (fan_in < 2) throw usage_error(fmt::format("--batch-size '{}' is less than 2", text));
  return fan_in;
}

}  // namespace

storage_options work_options::storage() const {
  storage_options options;
  for (std::string const& directory : directories) options.disks.emplace_back(directory);
  options.memory = memory_bytes.value_or(0);
  options.threads = threads.value_or(0);
  options.checksums = checksums ? block_checksums::of_runs : block_checksums::none;
  return options;
}

sort_options work_options::sorting() const {
  return {.most_fan_in = most_fan_in, .codec = codec, .trace = trace.has_value()};
}

storage_options pass_request::storage() const {
  constexpr std::size_t requests_under_way = 128;
  storage_options options = work.storage();
  options.depth = requests_under_way;
  return options;
}

std::vector<option> resource_rows(work_options& into) {
  auto const set_memory = [&into](std::string_view text) {
    into.memory_bytes = parse_memory(text);
    into.memory_text = text;
  };
  return {{.letter = 'S',
           .name = "buffer-size",
           .takes = argument::required,
           .value = "SIZE",
           .help = "memory for all buffers: K (default), M, G, b or %",
           .handler = set_memory},
          {.name = "memory",
           .takes = argument::required,
           .value = "SIZE",
           .help = "the same",
           .handler = set_memory},
          {.letter = 'T',
           .name = "temporary-directory",
           .takes = argument::required,
           .value = "DIR",
           .help = "a disk for temporary blocks; repeat it for parallel disks",
           .handler = [&into](std::string_view text) { add_directory(into, text); }},
          {.name = "parallel",
           .takes = argument::required,
           .value = "N",
           .help = "threads",
           .handler = [&into](std::string_view text) { into.threads = parse_threads(text); }}};
}

std::vector<option> spill_rows(work_options& into) {
  return {{.name = "block-checksums",
           .help = "notice if a disk returns other bytes than were written to it (default)",
           .handler = [&into](auto) { into.checksums = true; }},
          {.name = "no-block-checksums",
           .help = "do not",
           .handler = [&into](auto) { into.checksums = false; }},
          {.name = "run-codec",
           .takes = argument::required,
           .value = "WHEN",
           .help = "keep temporary data in fewer bytes: auto (if it pays), none, always",
           .handler =
               [&into](std::string_view text) {
                 into.codec = meaning_of(codec_words, "--run-codec", text);
               }},
          {.name = "batch-size",
           .takes = argument::required,
           .value = "N",
           .help = "merge no more than N runs or inputs at once",
           .handler = [&into](std::string_view text) { into.most_fan_in = parse_fan_in(text); }}};
}

std::vector<option> report_rows(work_options& into) {
  return {{.name = "progress",
           .help = "show how far it has come (default on a terminal)",
           .handler = [&into](auto) { into.progress = true; }},
          {.name = "no-progress",
           .help = "do not",
           .handler = [&into](auto) { into.progress = false; }},
          text_row("json", "FILE", "write a report as one JSON object", into.json),
          text_row("trace", "FILE", "note every step, for trace viewers", into.trace)};
}

void set_output(std::string_view path, std::string& into, bool& given) {
  if (given && into != path)
    throw usage_error(fmt::format("more than one output: '{}' and '{}'", into, path));
  into = path;
  given = true;
}

void refuse_same_files(std::vector<std::string> const& inputs,
                       std::initializer_list<named_output> outputs) {
  std::map<std::filesystem::path, named_output> seen;
  for (named_output const& output : outputs) {
    auto const place = output.path ? place_of(*output.path) : std::nullopt;
    if (!place) continue;
    auto const [first, is_new] = seen.emplace(*place, output);
    if (!is_new)
      throw usage_error(
          fmt::format("'{}' is both {} and {}", *output.path, first->second.name, output.name));
  }
  for (std::string const& input : inputs) {
    auto const place = place_of(input);
    auto const found = place ? seen.find(*place) : seen.end();
    if (found != seen.end() && !found->second.may_be_input)
      throw usage_error(fmt::format("'{}' is both an input and {}", input, found->second.name));
  }
}

int naming_memory(work_options const& work, std::function<int()> const& work_on) {
  try {
    return work_on();
  } catch (budget_error const& e) {
    if (work.memory_text.empty()) throw;
    throw std::runtime_error(fmt::format("-S {}: {}", work.memory_text, e.what()));
  }
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

option output_row(std::string& into, std::string help) {
  return {.letter = 'o',
          .name = "output",
          .takes = argument::required,
          .value = "FILE",
          .help = std::move(help),
          .handler = [&into, given = false](std::string_view path) mutable {
            set_output(path, into, given);
          }};
}

std::vector<option> pass_rows(pass_request& into) {
  return {output_row(into.output, "write there; may be the input"),
          text_row("svg", "FILE", "draw what ran, with its throughput and waits", into.picture)};
}

bool parse_pass_request(option_table const& table, int argc, char** argv, pass_request& into) {
  auto const operands = table.parse(argc, argv);
  if (!operands) return false;
  into.input = single_operand(*operands, "input file");
  if (into.output.empty()) throw usage_error("no output given; use -o FILE");
  return true;
}

int run_pass_command(
    std::string const& name, pass_request const& request, storage_options const& options,
    std::function<pass_outcome(outsize::storage&, numeric::pass_listener const&)> const& program) {
  refuse_same_files({request.input}, {{"the output", request.output, true},
                                      {"--json", request.work.json},
                                      {"--trace", request.work.trace},
                                      {"--svg", request.picture}});
  interruption const ends_cleanly(name);
  return naming_memory(request.work, [&] {
    outsize::storage store(options);
    std::optional<progress_line> bar;
    numeric::pass_listener listener;
    if (request.work.progress.value_or(::isatty(STDERR_FILENO) != 0)) {
      bar.emplace();
      listener = [&](numeric::pass_progress const& now) {
        bar->show(fmt::format("pass {} of {}", now.pass, now.passes), now.done_bytes,
                  now.total_bytes);
      };
    }
    pass_outcome const outcome = program(store, listener);
    bar.reset();
    write_reports(request, store, outcome);
    return exit_done;
  });
}

void write_reports(pass_request const& request, outsize::storage& store,
                   pass_outcome const& outcome) {
  if (request.work.json) write_file(*request.work.json, json_of(store, outcome));
  for (std::size_t i = 0; i < outcome.networks.size(); ++i) {
    auto const& network = outcome.networks[i];
    if (request.picture) write_file(numbered(*request.picture, i), network.svg());
    if (request.work.trace) write_file(numbered(*request.work.trace, i), network.chrome_trace());
  }
}

}  // namespace outsize::tool
