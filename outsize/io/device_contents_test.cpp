// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/device_contents.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/posix/open_descriptor.hpp>
#include <outsize/testing/loop_device.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

using namespace std::string_view_literals;

struct example {
  std::uint64_t offset_bytes;
  std::string_view bytes;
  std::string_view what;
};

// Regular files stand in for devices, of 1 MiB and a bit that is no whole block.
constexpr std::uint64_t size_bytes = 1_MiB + 5 * 512;

class device_contents : public testing::Test {
 protected:
  std::string contents_with(std::uint64_t offset_bytes, std::string_view bytes, char filler) {
    std::string content(size_bytes, filler);
    content.replace(offset_bytes, bytes.size(), bytes);
    auto const path = directory_.path("device");
    scratch::write_file(path, content);
    return std::string(known_contents(path).value_or("nothing"));
  }

  scratch::directory directory_;
};

TEST_F(device_contents, are_known_by_their_signatures) {
  constexpr example examples[] = {
      {1080, "\x53\xef", "an ext2, ext3 or ext4 file system"},
      {0, "XFSB", "an XFS file system"},
      {0x10040, "_BHRfS_M", "a btrfs file system"},
      {82, "FAT32   ", "a FAT file system"},
      {3, "NTFS    ", "an NTFS file system"},
      {4086, "SWAPSPACE2", "swap space"},
      {512, "LABELONE", "a physical volume of LVM"},
      {0, "LUKS\xba\xbe", "an encrypted (LUKS) volume"},
      {4096, "\xfc\x4e\x2b\xa9", "a part of a software array"},
      {1_MiB - 64_KiB, "\xfc\x4e\x2b\xa9", "a part of a software array"},  // format 0.90
      {1_MiB - 8_KiB, "\xfc\x4e\x2b\xa9", "a part of a software array"},   // format 1.0
      {200_KiB, "\x0c\xb1\xba\0\0\0\0\0"sv, "a ZFS pool"},
      {512, "EFI PART", "a partition table"},
      {510, "\x55\xaa", "a partition table, or a boot sector"},
      {0, "outsize\n", "a kept container of outsize"},
  };
  for (auto const& [offset_bytes, bytes, what] : examples)
    EXPECT_EQ(contents_with(offset_bytes, bytes, '\0'), what);
}

TEST_F(device_contents, that_are_not_known_are_nothing) {
  EXPECT_EQ(contents_with(0, "", '\0'), "nothing");
  EXPECT_EQ(contents_with(0, "", '\xff'), "nothing");
  EXPECT_EQ(contents_with(1, "XFSB", 'x'), "nothing");
  EXPECT_EQ(contents_with(1080, "\x53\xef", '\xff'), "nothing");  // block sizes that cannot be
  scratch::write_file(directory_.path("short"), "XFS");
  EXPECT_EQ(known_contents(directory_.path("short")), std::nullopt);
  EXPECT_THROW(known_contents(directory_.path("none")), io_error);
}

TEST(device_in_use, is_refused) {
  scratch::loop_device const device(1_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  require_unused_device(device.path());
  detail::open_descriptor const claim(
      detail::open_uninterrupted(device.path().c_str(), O_RDONLY | O_EXCL, 0));
  ASSERT_GE(claim.number(), 0);
  try {
    require_unused_device(device.path());
    ADD_FAILURE() << "no error";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), EBUSY);
    EXPECT_EQ(error.path(), device.path());
  }
}

}  // namespace
}  // namespace outsize::io
