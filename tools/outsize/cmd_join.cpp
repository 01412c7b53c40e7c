// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize join`: lines of two files by a common field. Layer: tools. The work is text::join_lines.

#include <tools/outsize/command.hpp>
#include <tools/outsize/join_request.hpp>
#include <tools/outsize/sort_command.hpp>

namespace outsize::tool {

int cmd_join(int argc, char** argv) {
  auto const request = read_join_request(argc, argv);
  if (!request) return exit_done;
  return run_sort_command("join", *request,
                          {.inputs = {request->paths.first, request->paths.second},
                           .output = request->paths.output,
                           .codecs = request->codecs,
                           .inputs_at_once = 2},
                          [&](outsize::storage& store, sort_options how) {
                            auto const& paths = request->paths;
                            request->codecs.apply_to(
                                how, {paths.first, paths.second}, paths.output,
                                request->join.csv ? contents::csv : contents::lines);
                            return text::join_lines(store, paths, request->join, how);
                          });
}

}  // namespace outsize::tool
