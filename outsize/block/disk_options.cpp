// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/disk_options.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <bitset>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize {
namespace {

constexpr char const* list_variable = "OUTSIZE_DISKS";
constexpr std::string_view blanks = " \t\r";

/// What is wrong with a word; the reader of the list adds where it is.
class malformed : public std::runtime_error {
 public:
  malformed(std::string_view word, std::string const& what)
      : std::runtime_error(fmt::format("'{}': {}", word, what)) {}
};

// ---- values; each throws std::invalid_argument with what was expected ----

std::uint64_t parse_size(std::string_view text) {
  try {
    if (std::uint64_t const bytes = parse_bytes(text); bytes != 0) return bytes;
  } catch (std::invalid_argument const&) {
    // Said below, in the words of this list.
  }
  throw std::invalid_argument("a size such as 100GiB is expected");
}

std::uint64_t parse_speed(std::string_view text) {
  try {
    if (text.ends_with("/s")) return parse_size(text.substr(0, text.size() - 2));
  } catch (std::invalid_argument const&) {
    // Likewise.
  }
  throw std::invalid_argument("a speed such as 2GiB/s is expected");
}

bool parse_choice(std::string_view text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  throw std::invalid_argument("yes or no is expected");
}

std::size_t parse_depth(std::string_view text) {
  std::size_t depth = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), depth);
  if (error != std::errc{} || end != text.data() + text.size() || depth == 0 ||
      depth > io::most_queue_depth)
    throw std::invalid_argument(
        fmt::format("a number from 1 to {} is expected", io::most_queue_depth));
  return depth;
}

constexpr std::array backends{io::backend::automatic, io::backend::uring, io::backend::threads,
                              io::backend::mmap};

std::string_view name_of(io::backend backend) noexcept {
  switch (backend) {
    case io::backend::automatic:
      return "automatic";
    case io::backend::uring:
      return "uring";
    case io::backend::threads:
      return "threads";
    case io::backend::mmap:
      return "mmap";
  }
  return {};
}

io::backend parse_backend(std::string_view text) {
  auto const found = std::ranges::find(backends, text, name_of);
  if (found == backends.end())
    throw std::invalid_argument("automatic, uring, threads or mmap is expected");
  return *found;
}

// ---- lines ----

struct setting {
  std::string_view key;
  void (*set)(disk_options& disk, std::string_view value);
};

constexpr std::array settings{
    setting{"capacity", [](auto& d, auto value) { d.capacity_bytes = parse_size(value); }},
    setting{"backend", [](auto& d, auto value) { d.backend = parse_backend(value); }},
    setting{"direct", [](auto& d, auto value) { d.direct = parse_choice(value); }},
    setting{"raw", [](auto& d, auto value) { d.raw = parse_choice(value); }},
    setting{"force", [](auto& d, auto value) { d.force = parse_choice(value); }},
    setting{"depth", [](auto& d, auto value) { d.depth = parse_depth(value); }},
    setting{"read", [](auto& d, auto value) { d.read_bytes_per_second = parse_speed(value); }},
    setting{"write", [](auto& d, auto value) { d.write_bytes_per_second = parse_speed(value); }},
};

std::string known_keys() {
  std::string keys;
  for (setting const& s : settings) keys += (keys.empty() ? "" : ", ") + std::string(s.key);
  return keys;
}

void skip_blanks(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
}

/// Cuts the next word off the front of `line`; empty at its end, or where a comment begins.
std::string_view next_word(std::string_view& line) {
  skip_blanks(line);
  if (line.starts_with('#')) line = {};
  auto const word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// Like next_word, for a word that may be in quotes, which it loses.
std::string_view next_path(std::string_view& line) {
  skip_blanks(line);
  if (!line.starts_with('"')) return next_word(line);
  auto const end = line.find('"', 1);
  if (end == line.npos) throw malformed(line, "the quote is not closed");
  auto const path = line.substr(1, end - 1);
  if (path.empty()) throw malformed("\"\"", "a path is expected");
  line.remove_prefix(end + 1);
  if (!line.empty() && blanks.find(line.front()) == blanks.npos)
    throw malformed(line.substr(0, line.find_first_of(blanks)), "a blank is expected before it");
  return path;
}

/// The disk of a line; nothing if the line is empty. @throws malformed.
std::optional<disk_options> parse_line(std::string_view line) {
  disk_options disk(std::string{next_path(line)});
  if (disk.path.empty()) return std::nullopt;
  std::bitset<settings.size()> seen;
  for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
    auto const equals = word.find('=');
    if (equals == word.npos)
      throw malformed(word, "key=value is expected; a path with blanks is put in quotes");
    auto const found = std::ranges::find(settings, word.substr(0, equals), &setting::key);
    if (found == settings.end()) throw malformed(word, "no such key; there are " + known_keys());
    auto const index = static_cast<std::size_t>(found - settings.begin());
    if (seen[index]) throw malformed(word, "given twice");
    seen.set(index);
    try {
      found->set(disk, word.substr(equals + 1));
    } catch (std::invalid_argument const& expected) {
      throw malformed(word, expected.what());
    }
  }
  return disk;
}

std::vector<disk_options> parse_lines(std::string_view text, char line_end, std::string_view name) {
  std::vector<disk_options> disks;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto const line = text.substr(0, text.find(line_end));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    try {
      if (auto disk = parse_line(line)) disks.push_back(std::move(*disk));
    } catch (malformed const& what) {
      throw format_error(fmt::format("{}:{}: {}", name, number, what.what()));
    }
  }
  if (disks.empty()) throw format_error(fmt::format("{}: names no disk", name));
  return disks;
}

/// No disk is as fast; up to it a double counts bytes.
constexpr double most_speed = 0x1p53;

/// Bytes of blocks written and read again in a second, up to a factor; 0 if not known.
double speed_of(disk_options const& disk) {
  auto const read = static_cast<double>(disk.read_bytes_per_second);
  auto const write = static_cast<double>(disk.write_bytes_per_second);
  if (read == 0 || write == 0 || read == write) return std::max(read, write);
  return 2 / (1 / read + 1 / write);
}

/// Of each disk what `speed` says, or 1 if no disk's is known.
template <typename Speed>
std::vector<std::uint64_t> speeds_by(std::span<disk_options const> disks, Speed const& speed) {
  std::vector<std::uint64_t> speeds;
  for (disk_options const& disk : disks)
    speeds.push_back(static_cast<std::uint64_t>(std::min(speed(disk), most_speed)));
  if (std::ranges::all_of(speeds, [](auto s) { return s == 0; })) {
    std::ranges::fill(speeds, 1U);
  } else if (auto const none = std::ranges::find(speeds, 0U); none != speeds.end()) {
    throw std::invalid_argument(
        fmt::format("{}: no bandwidth is given, though others' are",
                    disks[static_cast<std::size_t>(none - speeds.begin())].path));
  }
  return speeds;
}

}  // namespace

std::vector<disk_options> parse_disks(std::string_view text, std::string_view name) {
  return parse_lines(text, '\n', name);
}

std::optional<std::string> describe_in_list(disk_options const& disk) {
  auto const has = [&](std::string_view any) {
    return disk.path.find_first_of(any) != disk.path.npos;
  };
  bool const is_quoted = has(blanks) || disk.path.starts_with('#') || disk.path.starts_with('"');
  if (disk.path.empty() || has("\n;") || (is_quoted && has("\""))) return std::nullopt;
  std::string line = is_quoted ? fmt::format("\"{}\"", disk.path) : disk.path;
  auto const add = [&line](std::string_view key, auto const& value) {
    line += fmt::format(" {}={}", key, value);
  };
  auto const add_speed = [&](std::string_view key, std::uint64_t bytes_per_second) {
    if (bytes_per_second >= 1_MiB) add(key, fmt::format("{}MiB/s", bytes_per_second / 1_MiB));
  };
  add_speed("read", disk.read_bytes_per_second);
  add_speed("write", disk.write_bytes_per_second);
  if (disk.capacity_bytes != UINT64_MAX) add("capacity", disk.capacity_bytes);
  if (disk.backend) add("backend", name_of(*disk.backend));
  if (disk.depth) add("depth", *disk.depth);
  if (disk.direct) add("direct", *disk.direct ? "yes" : "no");
  if (disk.raw) add("raw", "yes");
  if (disk.force) add("force", "yes");
  return line;
}

std::vector<disk_options> read_disks(std::string const& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw io_error(errno, "open", path);
  std::string text;
  for (std::string line; std::getline(in, line);) text += line + '\n';
  if (in.bad()) throw io_error(errno != 0 ? errno : EIO, "read", path);
  return parse_disks(text, path);
}

std::vector<disk_options> default_disks() {
  char const* const value = std::getenv(list_variable);
  if (value == nullptr || *value == '\0') return {disk_options(default_temporary_directory())};
  std::string_view const text(value);
  if (text.find(';') != text.npos) return parse_lines(text, ';', list_variable);
  return read_disks(value);
}

std::string default_temporary_directory() {
  for (char const* variable : {"OUTSIZE_TMPDIR", "TMPDIR"})
    if (char const* value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  return ::access(".", W_OK | X_OK) == 0 ? "." : "/tmp";
}

std::vector<std::uint64_t> weights_of(std::span<disk_options const> disks) {
  return speeds_by(disks, speed_of);
}

std::vector<std::uint64_t> read_speeds_of(std::span<disk_options const> disks) {
  return speeds_by(disks, [](disk_options const& disk) {
    return static_cast<double>(disk.read_bytes_per_second != 0 ? disk.read_bytes_per_second
                                                               : disk.write_bytes_per_second);
  });
}

}  // namespace outsize
