// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The bytes of a kept file, to be damaged with care: a field, a place in the index or a page is
// changed, and the checksums are made right again, so that only the field itself is wrong.
//
//   0: header, 4096: header (kept_file.cpp)     of which the one with the later number counts
//
// A pure value. Layer: testing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/block/checksum_table.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::scratch {

/// Where a number lies in a header.
struct kept_field {
  std::string_view name;
  std::size_t offset;
  std::size_t bytes = 8;
};

/// The fields of a header that its checksum covers, but those that say what kind of file it is.
inline constexpr kept_field kept_fields[] = {
    {"is_closed", 12, 4},  {"sequence", 40},       {"used_bytes", 48},     {"index_offset", 56},
    {"index_bytes", 64},   {"row_count", 80, 4},   {"state_bytes", 84, 4}, {"page_bytes[0]", 88},
    {"page_bytes[1]", 96}, {"page_count[0]", 104}, {"page_count[1]", 112},
};
/// The same of what containers note about themselves.
inline constexpr kept_field kept_tree_fields[] = {
    {"size", 120}, {"root", 128}, {"first_leaf", 136}, {"last_leaf", 144}, {"height", 152}};
inline constexpr kept_field kept_table_fields[] = {{"size", 120}, {"base", 128}, {"count", 136}};
inline constexpr kept_field kept_vector_fields[] = {{"size", 120}};
inline constexpr kept_field kept_queue_fields[] = {
    {"items", 120}, {"arrays", 128}, {"catalogue_bytes", 136}, {"form", 144}};

/// See the top of this file.
class kept_image {
 public:
  struct page {
    std::size_t row;
    std::uint64_t number;
    std::size_t offset;
    std::size_t length;
  };

  kept_image() = default;
  /// @param file  A sound one.
  explicit kept_image(std::vector<std::byte> file)
      : bytes_(std::move(file)), header_(get(40) > get(4136) ? 0 : 4096) {}
  explicit kept_image(std::string_view file)
      : kept_image(std::vector(std::as_bytes(std::span(file)).begin(),
                               std::as_bytes(std::span(file)).end())) {}

  std::vector<std::byte> const& bytes() const noexcept { return bytes_; }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }
  std::string_view text() const noexcept {
    return {reinterpret_cast<char const*>(bytes_.data()), bytes_.size()};
  }
  io::file_ptr as_file(std::string name) const {
    auto file = io::make_memory_file(std::move(name));
    if (!bytes_.empty()) file->write(0, bytes_)->wait();
    return file;
  }

  std::uint64_t get(kept_field const& field) const {
    return get(header_ + field.offset, field.bytes);
  }
  void set(kept_field const& field, std::uint64_t value) {
    std::memcpy(&bytes_[header_ + field.offset], &value, field.bytes);
  }
  std::uint64_t get(std::size_t offset, std::size_t bytes = 8) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[offset], bytes);
    return value;
  }
  void set(std::size_t offset, std::uint64_t value, std::size_t bytes = 8) {
    std::memcpy(&bytes_[offset], &value, bytes);
  }

  /// Its pages that something was written to, as the index says. @pre its header is sound.
  std::vector<page> pages() const {
    std::size_t word = get(header_ + 56);
    std::vector<page> found;
    for (std::size_t row = 0; row < get(header_ + 80, 4); ++row) {
      std::size_t const length = get(header_ + 88 + 8 * row);
      std::uint64_t const count = get(header_ + 104 + 8 * row);
      for (std::uint64_t i = 0; i < count; ++i, word += 8)
        if (std::uint64_t const offset = get(word); offset != 0)
          found.push_back({row, i, offset, length});
    }
    return found;
  }
  /// As a file of a version that did not note types and order.
  void forget_types() {
    for (std::size_t i = 0; i < notes_bytes; ++i) bytes_[header_ + checked_bytes - 1 - i] = {};
    repair();
  }
  /// Makes the checksums of the index, as far as it is in the file, and of the header right.
  void repair() {
    std::size_t const h = header_;
    std::uint64_t const offset = get(h + 56), length = get(h + 64);
    if (offset <= bytes_.size() && length <= bytes_.size() - offset && length <= piece_bytes)
      set(h + 72, length == 0 ? 0 : checksum(offset, length));
    set(h + checked_bytes, checksum(h, checked_bytes));
  }

 private:
  static constexpr std::size_t checked_bytes = 376;   // of a header
  static constexpr std::size_t notes_bytes = 128;     // the last ones of them
  static constexpr std::size_t piece_bytes = 65'536;  // that are summed up at once in an index

  std::uint64_t checksum(std::size_t offset, std::size_t length) const {
    return block::checksum_of(std::span(bytes_).subspan(offset, length));
  }

  std::vector<std::byte> bytes_;
  std::size_t header_ = 0;
};

}  // namespace outsize::scratch
