// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The file that keeps a priority queue: the blocks of its arrays, and a catalogue of these.
//
//   row 0:   blocks of arrays (kept_blocks.hpp)
//   row 1:   catalogue: | checksum, bytes | checksum, bytes | …    one stream of bytes
//   state:   numbers of items and arrays, length of the catalogue, form of the items
//
// The catalogue is written anew by each commit, in other places than the last one.
//
// Invariant: the last commit stays readable until the next one is complete. One thread.
// Layer: container.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/page/detail/kept_blocks.hpp>
#include <outsize/page/detail/kept_file.hpp>

namespace outsize::detail {

/// Checked: priority_queue_file_test.cpp.
class queue_file {
 public:
  /// The part of the file's header that is the queue's.
  struct state {
    std::uint64_t items = 0;
    std::uint64_t arrays = 0;
    std::uint64_t catalogue_bytes = 0;
    std::uint64_t form = 0;  ///< How items are encoded, to be compared.
  };

  /// Makes the file, with blocks of at least `block_bytes`. It goes with this unless keep() is
  /// called. @throws as kept_file.
  static queue_file create(storage& store, std::string const& path, kept_kind const& kind,
                           std::size_t block_bytes);
  static queue_file create(storage& store, io::file_ptr file, kept_kind const& kind,
                           std::size_t block_bytes);
  /// Opens it to be changed. @throws as kept_file; format_error if the state cannot be.
  static queue_file open(storage& store, std::string const& path, kept_kind const& kind);
  static queue_file open(storage& store, io::file_ptr file, kept_kind const& kind);

  kept_blocks& blocks() noexcept { return *blocks_; }
  std::string const& name() const noexcept { return file_->name(); }
  bool was_closed() const noexcept { return file_->was_closed(); }
  bool is_new() const noexcept { return is_new_; }
  state const& committed() const noexcept { return state_; }
  void keep() noexcept { file_->keep(); }
  /// Notes in the file that it is not closed any more. To be called before blocks are freed.
  /// @throws io_error.
  void note_change();
  /// @throws format_error: the field has a value that cannot be.
  [[noreturn]] void refuse(char const* field, std::uint64_t value) const {
    file_->refuse(field, value);
  }
  /// @throws format_error: the order is another one.
  [[noreturn]] void refuse_order() const;

  /// Writes the next catalogue. @throws io_error, out_of_space, budget_error.
  class writer {
   public:
    explicit writer(queue_file& to) : to_(to) {}
    void write(std::span<std::byte const> bytes);
    template <typename T>
      requires(std::is_trivially_copyable_v<T>)
    void write(T const& value) {
      write(std::as_bytes(std::span(&value, 1)));
    }
    /// Makes all blocks and the catalogue durable. @pre all blocks have been written.
    void commit(state what, bool closes);

   private:
    void write_page();

    queue_file& to_;
    std::uint64_t pages_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t bytes_ = 0;
  };

  /// Reads the catalogue. @throws io_error; format_error if it is damaged or ends before.
  class reader {
   public:
    explicit reader(queue_file& from) : from_(from) {}
    void read(std::span<std::byte> to);
    template <typename T>
      requires(std::is_trivially_copyable_v<T>)
    T read() {
      T value;
      read(std::as_writable_bytes(std::span(&value, 1)));
      return value;
    }
    bool is_at_end() const noexcept { return bytes_ == from_.state_.catalogue_bytes; }

   private:
    void read_page();

    queue_file& from_;
    std::uint64_t pages_ = 0;
    std::span<std::byte const> left_;
    std::uint64_t bytes_ = 0;
  };

 private:
  queue_file(storage& store, std::shared_ptr<kept_file> file, bool is_new);

  std::span<std::byte> content() noexcept {
    return page_.bytes().first(catalogue_->page_bytes()).subspan(sizeof(std::uint64_t));
  }
  std::uint64_t checksum(std::uint64_t page) noexcept;

  std::shared_ptr<kept_file> file_;
  std::unique_ptr<kept_blocks> blocks_;
  std::unique_ptr<kept_pages> catalogue_;
  grant memory_;
  buffer page_;
  state state_;
  bool is_new_;
};

}  // namespace outsize::detail
