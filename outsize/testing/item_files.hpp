// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Files of items of one type, written and read whole. Layer: testing.

#include <cstring>
#include <string>
#include <vector>

#include <outsize/testing/scratch_directory.hpp>

namespace outsize::scratch {

template <typename T>
void write_items(std::string const& path, std::vector<T> const& all) {
  write_file(path, {reinterpret_cast<char const*>(all.data()), all.size() * sizeof(T)});
}

template <typename T>
std::vector<T> read_items(std::string const& path) {
  std::string const bytes = read_file(path);
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty())
    std::memcpy(static_cast<void*>(all.data()), bytes.data(), all.size() * sizeof(T));
  return all;
}

}  // namespace outsize::scratch
