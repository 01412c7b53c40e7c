// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The program that kept_crash_test.cpp kills:
//
//   kept_writer NAME PATH SEED STEPS
//
// It makes or opens the kept container of the history NAME, takes steps of it, flushes after each,
// and closes it. On its standard output are numbers of eight bytes: how many steps are durable,
// when the container has been made or opened, and after each flush.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <tuple>

#include "kept_history.hpp"

namespace {

using namespace outsize;

/// At once, so that nothing of it is lost with the process.
void report(std::uint64_t steps) {
  if (::write(STDOUT_FILENO, &steps, sizeof steps) != sizeof steps) std::exit(2);
}

template <typename History>
void write_history(std::string const& path, std::uint64_t seed, std::uint64_t more) {
  storage store(crash::without_disks());
  auto kept = std::filesystem::exists(path) ? History::open(path, store, io::access::read_write)
                                            : History::create(path, store);
  std::uint64_t done = History::steps(kept);
  report(done);
  for (; more > 0; --more) {
    History::step(kept, seed, ++done);
    kept.flush();
    report(done);
  }
  kept.close();
}

/// That of the history with this name, or none.
template <typename... Histories>
auto writer_of(std::string_view name, std::tuple<Histories...>*) {
  void (*found)(std::string const&, std::uint64_t, std::uint64_t) = nullptr;
  ((name == Histories::name ? void(found = write_history<Histories>) : void()), ...);
  return found;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 5) return 2;
  auto const write = writer_of(arguments[1], static_cast<crash::histories<std::tuple>*>(nullptr));
  if (write == nullptr) return 2;
  write(arguments[2], std::stoull(arguments[3]), std::stoull(arguments[4]));
} catch (std::exception const& e) {
  std::cerr << "kept_writer: " << e.what() << '\n';
  return 2;
}
