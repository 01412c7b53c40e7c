// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Descriptions of disks: what is parsed, printed and parsed again is the same; what is refused is
// refused with line and word.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/block/disk_options.hpp>

#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

std::string printed(disk_options const& disk) {
  constexpr std::array backends{"automatic", "uring", "threads", "mmap"};
  constexpr std::array values{io::backend::automatic, io::backend::uring, io::backend::threads,
                              io::backend::mmap};
  // A path with a quote inside of it can do without quotes around it, or it could not be there.
  auto line = disk.path.find('"') == std::string::npos ? '"' + disk.path + '"' : disk.path;
  if (disk.capacity_bytes != UINT64_MAX) line += fmt::format(" capacity={}", disk.capacity_bytes);
  if (disk.raw) line += " raw=yes";
  if (disk.force) line += " force=yes";
  if (disk.backend) {
    auto const found = std::ranges::find(values, *disk.backend) - values.begin();
    line += fmt::format(" backend={}", backends.at(static_cast<std::size_t>(found)));
  }
  if (disk.depth) line += fmt::format(" depth={}", *disk.depth);
  if (disk.direct) line += *disk.direct ? " direct=yes" : " direct=no";
  if (disk.read_bytes_per_second != 0)
    line += fmt::format(" read={}/s", disk.read_bytes_per_second);
  if (disk.write_bytes_per_second != 0)
    line += fmt::format(" write={}/s", disk.write_bytes_per_second);
  return line + '\n';
}

bool same(disk_options const& a, disk_options const& b) {
  auto const all = [](disk_options const& d) {
    return std::tie(d.path, d.capacity_bytes, d.raw, d.force, d.backend, d.depth, d.direct,
                    d.read_bytes_per_second, d.write_bytes_per_second);
  };
  return all(a) == all(b);
}

void check_weights(std::vector<disk_options> const& disks) {
  try {
    auto const weights = weights_of(disks);
    require(weights.size() == disks.size(), "each disk has a weight");
    require(std::ranges::find(weights, 0U) == weights.end(), "no weight is zero");
  } catch (std::invalid_argument const& e) {
    std::string_view const message = e.what();
    auto const is_named = [&](disk_options const& d) {
      return d.read_bytes_per_second == 0 && d.write_bytes_per_second == 0 &&
             message.starts_with(d.path.c_str());  // as far as what() can show it
    };
    require(std::ranges::any_of(disks, is_named), "a disk without a bandwidth is named");
  }
}

}  // namespace

void check(std::string_view input) {
  std::vector<disk_options> disks;
  try {
    disks = parse_disks(input, "disks");
  } catch (format_error const& e) {
    std::string_view const message = e.what();
    require(message.starts_with("disks:") && message.find('\n') == message.npos,
            "an error is one line that names the list");
    return;
  }
  require(!disks.empty(), "there is a disk");
  std::string text;
  for (disk_options const& disk : disks) text += printed(disk);
  auto const again = parse_disks(text, "printed");
  require(std::ranges::equal(again, disks, same), "disks printed and parsed again are the same");
  check_weights(disks);
}

std::vector<std::string> seeds() {
  return {
      "/a read=6GiB/s write=4GiB/s\n/b read=3GiB/s write=2GiB/s capacity=500GiB depth=32\n",
      "# disks\n\n\"/mnt/my disk\" backend=threads direct=no # slow\n/dev/x raw=yes force=yes\r\n",
      "/a backend=automatic\n/b backend=uring\n/c backend=mmap raw=no direct=yes\n",
      "/a read=18446744073709551615/s\n/b read=1/s\n",
      "/a depth=0\n",
      "/a speed=1\n",
      "/a read=1\n",
      "\"/a\n",
      "/a b\n",
      "/a depth=1 depth=1\n"};
}

std::size_t mutation_count() { return 60'000; }

}  // namespace outsize::fuzz
