// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The commands of the tool. Layer: tools. Each command reads its own arguments (argv[0] is its
// name), does its work and returns an exit code; whatever goes wrong leaves it as an exception that
// main() turns into one line on stderr and exit_error. Commands run on the main thread.
#pragma once

#include <cstdio>
#include <string_view>

namespace outsize::tool {

inline constexpr int exit_done = 0;   ///< done, or the answer is yes
inline constexpr int exit_no = 1;     ///< the answer is no (`check`, `sort -c`)
inline constexpr int exit_error = 2;  ///< usage or operating error

/// Writes to stderr if that can be done; if not, the exit code has to say it alone. Names in `text`
/// have gone through printable().
inline void put_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int cmd_sort(int argc, char** argv);
int cmd_gen(int argc, char** argv);
int cmd_check(int argc, char** argv);
int cmd_info(int argc, char** argv);
int cmd_bench(int argc, char** argv);
int cmd_columnsort(int argc, char** argv);
int cmd_permute(int argc, char** argv);
int cmd_fft(int argc, char** argv);
int cmd_uniq(int argc, char** argv);
int cmd_count(int argc, char** argv);
int cmd_top(int argc, char** argv);
int cmd_shuffle(int argc, char** argv);
int cmd_join(int argc, char** argv);
int cmd_mis(int argc, char** argv);

}  // namespace outsize::tool
