// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/device_contents.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io {
namespace {

using namespace std::string_view_literals;

struct signature {
  std::uint64_t offset_bytes;
  std::string_view bytes;
  std::string_view meaning;
};

constexpr auto array_meaning = "a part of a software array"sv;
constexpr auto array_bytes = "\xfc\x4e\x2b\xa9"sv;  // as machines of little end write it

// Partition tables last: some file systems have one's end mark, too.
constexpr std::array signatures{
    signature{0, "XFSB"sv, "an XFS file system"},
    signature{0x10040, "_BHRfS_M"sv, "a btrfs file system"},
    signature{1024, "\x10\x20\xf5\xf2"sv, "an F2FS file system"},
    signature{4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"sv,
              "a bcache device"},
    signature{4096 + 24, "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"sv,
              "a bcachefs file system"},
    signature{32768, "JFS1"sv, "a JFS file system"},
    signature{0x10034, "ReIsEr"sv, "a ReiserFS file system"},
    signature{0, "hsqs"sv, "a SquashFS file system"},
    signature{1024, "\xe2\xe1\xf5\xe0"sv, "an EROFS file system"},
    signature{32769, "CD001"sv, "an ISO 9660 file system"},
    signature{3, "NTFS    "sv, "an NTFS file system"},
    signature{3, "EXFAT   "sv, "an exFAT file system"},
    signature{54, "FAT1"sv, "a FAT file system"},
    signature{82, "FAT32   "sv, "a FAT file system"},
    signature{32, "NXSB"sv, "an APFS container"},
    signature{1024, "H+\0\4"sv, "an HFS+ file system"},
    signature{0, "LUKS\xba\xbe"sv, "an encrypted (LUKS) volume"},
    signature{512, "LABELONE"sv, "a physical volume of LVM"},
    signature{0, "LABELONE"sv, "a physical volume of LVM"},
    signature{4086, "SWAPSPACE2"sv, "swap space"},
    signature{65526, "SWAPSPACE2"sv, "swap space"},
    signature{0, array_bytes, array_meaning},
    signature{4096, array_bytes, array_meaning},
    signature{0, "outsize\n"sv, "a kept container of outsize"},
    signature{512, "EFI PART"sv, "a partition table"},
    signature{4096, "EFI PART"sv, "a partition table"},
    signature{510, "\x55\xaa"sv, "a partition table, or a boot sector"},
};

// ZFS: the uberblocks of the first label.
constexpr std::uint64_t uberblocks_begin = 128_KiB, uberblocks_end = 256_KiB;
constexpr auto uberblock_bytes = "\x0c\xb1\xba\0\0\0\0\0"sv;
constexpr std::size_t first_bytes = uberblocks_end;

// Where older software arrays keep what they are, from the end.
constexpr std::uint64_t array_unit_0_90 = 64_KiB, array_unit_1_0 = 4_KiB, array_place_1_0 = 8_KiB;

std::string_view text_of(std::span<std::byte const> bytes) noexcept {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> read_at(detail::open_descriptor const& device, std::uint64_t offset_bytes,
                               std::size_t length_bytes, std::string const& name) {
  std::vector<std::byte> bytes(length_bytes);
  if (::lseek(device.number(), static_cast<off_t>(offset_bytes), SEEK_SET) < 0)
    throw io_error(errno, "read", name);
  bytes.resize(detail::peek(device.number(), bytes, name));
  return bytes;
}

bool is_at(std::string_view bytes, std::uint64_t offset_bytes, std::string_view wanted) noexcept {
  return offset_bytes <= bytes.size() && bytes.substr(offset_bytes).starts_with(wanted);
}

/// The signature is short; block sizes are powers of two, whose exponent is small.
bool has_ext_superblock(std::string_view bytes) noexcept {
  return is_at(bytes, 1080, "\x53\xef"sv) && is_at(bytes, 1049, "\0\0\0"sv);
}

bool has_uberblock(std::string_view bytes) noexcept {
  for (std::uint64_t at = uberblocks_begin; at < uberblocks_end; at += 1_KiB)
    if (is_at(bytes, at, uberblock_bytes)) return true;
  return false;
}

bool ends_as_array(detail::open_descriptor const& device, std::string const& name) {
  std::uint64_t const size_bytes = detail::file_size_bytes(device, name);
  if (size_bytes < 2 * array_unit_0_90) return false;
  for (std::uint64_t const at : {round_down(size_bytes, array_unit_0_90) - array_unit_0_90,
                                 round_down(size_bytes - array_place_1_0, array_unit_1_0)})
    if (text_of(read_at(device, at, array_bytes.size(), name)) == array_bytes) return true;
  return false;
}

}  // namespace

std::optional<std::string_view> known_contents(std::string const& path) {
  auto const device = detail::open_for_reading(path, path);
  auto const first = read_at(device, 0, first_bytes, path);
  auto const text = text_of(first);
  if (has_ext_superblock(text)) return "an ext2, ext3 or ext4 file system";
  if (has_uberblock(text)) return "a ZFS pool";
  auto const found = std::ranges::find_if(
      signatures, [&](signature const& one) { return is_at(text, one.offset_bytes, one.bytes); });
  if (found != signatures.end()) return found->meaning;
  if (ends_as_array(device, path)) return array_meaning;
  return std::nullopt;
}

void require_unused_device(std::string const& path) {
  // Without O_CREAT the flag claims a device, which fails where somebody has.
  detail::open_descriptor const device(
      detail::open_uninterrupted(path.c_str(), O_RDONLY | O_EXCL, 0));
  if (device.number() < 0) throw io_error(errno, "use as a disk", path);
}

}  // namespace outsize::io
