// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A fuzz target as a program of libFuzzer. The seeds of the target are put into the first folder
// that it is given, its corpus; an exception ends it, which libFuzzer reports with the input.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    std::string const word = (*argv)[i];
    if (word.starts_with('-')) continue;
    std::size_t number = 0;
    for (std::string const& seed : outsize::fuzz::seeds()) {
      std::ofstream file(word + "/seed" + std::to_string(number++), std::ios::binary);
      file.write(seed.data(), static_cast<std::streamsize>(seed.size()));
    }
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  outsize::fuzz::check({reinterpret_cast<char const*>(data), size});
  return 0;
}
