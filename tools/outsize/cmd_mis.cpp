// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize mis`: a maximal independent set of a graph in files of edges, and the check of one.
// Layer: tools. The work is graphs::write_independent_set and graphs::check_independent_set.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/graph/independent_set_files.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/input_names.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/option_words.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/sort_command.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

using graphs::edge_format;

constexpr char const* about_mis =
    "Writes a maximal independent set of a graph, a vertex a line: no edge joins two of its\n"
    "vertices, and each other vertex has a neighbour in it. It is the set of a greedy that takes\n"
    "vertices in the order of their numbers. Edges have no direction; loops and repeats have no\n"
    "effect. The FILEs together are the graph. Without FILE, or where FILE is -, reads standard\n"
    "input. Exit status: 0 done, with --check: the set is right; 1 it is not; 2 error.";

constexpr std::array format_words{option_word<edge_format>{"auto", edge_format::automatic},
                                  option_word<edge_format>{"text", edge_format::text},
                                  option_word<edge_format>{"csv", edge_format::csv},
                                  option_word<edge_format>{"u32", edge_format::u32},
                                  option_word<edge_format>{"u64", edge_format::u64},
                                  option_word<edge_format>{"mm", edge_format::matrix_market},
                                  option_word<edge_format>{"metis", edge_format::metis}};

struct mis_request : work_options {
  graphs::independent_set_files files;
  std::optional<char> separator;
  std::optional<std::string> members;  ///< --check
  std::optional<std::string> name_list;
  compression_options codecs;
  bool has_output = false;

  edge_format format_of(std::string const& path) const {
    return files.edges.format == edge_format::automatic ? graphs::edge_format_of_name(path)
                                                        : files.edges.format;
  }
  /// Binary numbers may begin with any bytes.
  contents contents_of_edges() const {
    auto const is_binary = [&](auto const& path) { return graphs::is_binary(format_of(path)); };
    if (std::ranges::any_of(files.edges.paths, is_binary)) return contents::records;
    return files.edges.format == edge_format::csv ? contents::csv : contents::lines;
  }
};

char parse_separator(std::string_view text) {
  if (text.size() != 1) throw usage_error(fmt::format("separator '{}' is not a single byte", text));
  return text[0];
}

std::uint64_t parse_vertices(std::string_view text) {
  auto const number = read_number(text);
  if (!number) throw usage_error(fmt::format("number of vertices '{}' is not valid", text));
  return *number;
}

std::vector<option> edge_rows(mis_request& request) {
  auto& edges = request.files.edges;
  return {
      {.name = "format",
       .takes = argument::required,
       .value = "TYPE",
       .help = "text, csv, u32, u64, mm, metis, or auto: by name or first bytes",
       .handler =
           [&](std::string_view text) {
             edges.format = meaning_of(format_words, "--format", text);
           }},
      {.letter = 't',
       .name = "field-separator",
       .takes = argument::required,
       .value = "CHAR",
       .help = "of CSV, in place of the comma",
       .handler = [&](std::string_view text) { request.separator = parse_separator(text); }},
      {.name = "header",
       .help = "CSV begins with a line of names (default: if it has no numbers)",
       .handler = [&](auto) { edges.header = true; }},
      {.name = "no-header", .help = "it does not", .handler = [&](auto) { edges.header = false; }},
      {.name = "vertices",
       .takes = argument::required,
       .value = "N",
       .help = "how many there are (default: by headers, or the greatest number + 1)",
       .handler = [&](std::string_view text) { edges.vertices = parse_vertices(text); }}};
}

std::vector<option> set_rows(mis_request& request) {
  return {output_row(request.files.output, request.has_output,
                     "write there, not to standard output; may be an input"),
          flag_row(0, "verify", "read the edges again, and prove the set before it is written",
                   request.files.verify),
          text_row(0, "check", "SETFILE", "write no set, but tell whether this one is right",
                   request.members)};
}

option_table make_table(mis_request& request) {
  option_table table("outsize mis [OPTIONS] [FILE...]", about_mis);
  table.heading("what the edges are")
      .add(edge_rows(request))
      .add(files0_row(request.name_list))
      .heading("what to do")
      .add(set_rows(request))
      .heading("with what")
      .add(resource_rows(request))
      .add(spill_rows(request))
      .heading("compressed files")
      .add(compression_rows(request.codecs))
      .heading("what to tell")
      .add(report_rows(request));
  return table;
}

/// A separator is of CSV, and of nothing else.
void settle_csv(mis_request& request) {
  auto& edges = request.files.edges;
  if (!request.separator && !edges.header) return;
  if (edges.format == edge_format::automatic && request.separator) edges.format = edge_format::csv;
  if (edges.format != edge_format::csv && edges.format != edge_format::automatic)
    throw usage_error("options -t, --header and --no-header are for CSV");
  edges.csv = csv_format_of(request.separator, false);
}

void refuse_contradictions(mis_request const& request) {
  if (!request.members) return;
  if (request.has_output || request.files.verify)
    throw usage_error("--check writes no set; -o and --verify do not go with it");
  auto const& paths = request.files.edges.paths;
  if (*request.members == "-" && std::ranges::find(paths, "-") != paths.end())
    throw usage_error("standard input cannot be both the edges and the set");
}

/// Tells about the set of --check. Returns the exit status.
int tell(graphs::independent_set_outcome const& outcome) {
  fmt::print("{:<12}{}\n{:<12}{}\n{:<12}{}\n", "vertices", outcome.vertices, "edges", outcome.edges,
             "members", outcome.members);
  fmt::print("{:<12}{}\n", "set",
             outcome.fault ? "wrong: " + outcome.fault->message(outcome.first_vertex)
                           : "independent and maximal");
  return outcome.fault ? exit_no : exit_done;
}

sort_report write_set(outsize::storage& store, mis_request& request, sort_options const& how) {
  auto outcome = graphs::write_independent_set(store, request.files, how);
  if (outcome.fault)
    throw std::runtime_error(
        fmt::format("the set that was found is wrong, as the edges now are: {}",
                    outcome.fault->message(outcome.first_vertex)));
  return std::move(outcome.sort);
}

}  // namespace

int cmd_mis(int argc, char** argv) {
  mis_request request;
  auto operands = make_table(request).parse(argc, argv);
  if (!operands) return exit_done;
  auto& edges = request.files.edges;
  edges.paths = all_inputs(std::move(*operands), request.name_list);
  request.note_read(request.name_list);
  request.note_read(request.members);
  settle_csv(request);
  refuse_contradictions(request);
  int status = exit_done;
  run_sort_command("mis", request,
                   {.inputs = edges.paths,
                    .output = request.files.output,
                    .codecs = request.codecs,
                    .what = request.contents_of_edges()},
                   [&](outsize::storage& store, sort_options how) {
                     request.codecs.apply_to(how, edges.paths, request.files.output,
                                             request.contents_of_edges());
                     edges.decoding = how.decoding();
                     if (!request.members) return write_set(store, request, how);
                     auto const outcome =
                         graphs::check_independent_set(store, edges, *request.members, how);
                     status = tell(outcome);
                     return outcome.sort;
                   });
  return status;
}

}  // namespace outsize::tool
