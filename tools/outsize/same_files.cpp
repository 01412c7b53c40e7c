// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/same_files.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include <outsize/io/file_identity.hpp>
#include <outsize/io/output_stream.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

constexpr std::string_view standard_output = "/dev/stdout", standard_input = "/dev/stdin";

std::string path_of_output(std::string const& path) {
  return path == "-" ? std::string(standard_output) : path;
}

/// The folder, by what it is, and the name there that a path leads to, also if that is free: no
/// folder above need be readable. None for what has no place, pipes say, and what cannot be found
/// out, which is told when the file is opened.
std::optional<std::string> place_of(std::filesystem::path path) {
  struct stat found {};
  bool const is_there = ::stat(path.c_str(), &found) == 0;
  if (is_there && !S_ISREG(found.st_mode)) return std::nullopt;
  constexpr int most_links = 40;  // as the kernel's
  for (int links = 0; links < most_links; ++links) {
    std::error_code failure;
    auto const next = std::filesystem::read_symlink(path, failure);
    if (failure) break;
    path = path.parent_path() / next;
  }
  if (!path.has_filename()) return std::nullopt;
  auto const folder = path.has_parent_path() ? path.parent_path() : ".";
  if (::stat(folder.c_str(), &found) != 0) return std::nullopt;
  return fmt::format("{}:{}/{}", found.st_dev, found.st_ino, path.filename().string());
}

bool takes_all(struct stat const& device) {
  struct stat null {};
  return S_ISCHR(device.st_mode) && ::stat("/dev/null", &null) == 0 &&
         device.st_rdev == null.st_rdev;
}

/// Of outputs; standard output is a place, too.
std::optional<std::string> place_of_output(std::string const& path) {
  if (auto place = place_of(path_of_output(path))) return place;
  struct stat stream {};
  struct stat found {};
  bool const is_standard = ::fstat(STDOUT_FILENO, &stream) == 0 &&
                           ::stat(path_of_output(path).c_str(), &found) == 0 &&
                           stream.st_dev == found.st_dev && stream.st_ino == found.st_ino;
  if (!is_standard || takes_all(found)) return std::nullopt;
  return std::string(standard_output);
}

bool is_same_file(std::string const& one, std::string const& other) {
  auto const a = io::identity_of(one), b = io::identity_of(other);
  return a && b && io::share_bytes(*a, *b);
}

}  // namespace

void refuse_same_files(std::vector<std::string> const& inputs,
                       std::vector<named_output> const& outputs) {
  std::map<std::string, named_output> seen;
  for (named_output const& output : outputs) {
    auto const place = output.path ? place_of_output(*output.path) : std::nullopt;
    if (!place) continue;
    auto const [first, is_new] = seen.emplace(*place, output);
    if (!is_new)
      throw usage_error(
          fmt::format("'{}' is both {} and {}", *output.path, first->second.name, output.name));
  }
  for (std::string const& input : inputs) {
    std::string const path = input == "-" ? std::string(standard_input) : input;
    auto const place = place_of(path);
    auto const found = place ? seen.find(*place) : seen.end();
    if (found != seen.end() && !found->second.may_be_input)
      throw usage_error(fmt::format("'{}' is both an input and {}", input, found->second.name));
    for (named_output const& output : outputs)
      if (output.path && is_same_file(path, path_of_output(*output.path)) &&
          io::is_written_in_place(*output.path))
        throw usage_error(fmt::format(
            "'{}' is an input, and {} is open already: it would be written over while it is read",
            input, output.name));
  }
}

}  // namespace outsize::tool
