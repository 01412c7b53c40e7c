// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/memory_file.hpp>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/error.hpp>
#include <outsize/io/delay_line.hpp>

namespace outsize::io {
namespace {

class memory_file final : public file {
 public:
  memory_file(std::string name, std::uint64_t capacity_bytes, memory_file_options const& options)
      : name_(std::move(name)),
        capacity_bytes_(capacity_bytes),
        options_(options),
        line_([this](attempt work) { move(work); }) {}
  ~memory_file() override { drain(); }

  std::uint64_t size_bytes() const override {
    std::lock_guard lock(mutex_);
    return content_.size();
  }

  void resize(std::uint64_t bytes) override {
    std::lock_guard lock(mutex_);
    if (bytes > capacity_bytes_) throw io_error(ENOSPC, "resize", name_);
    content_.resize(static_cast<std::size_t>(bytes));
  }

  void sync() override {}  // no power, no memory

  void allocate(std::uint64_t offset_bytes, std::uint64_t length_bytes) override {
    std::lock_guard lock(mutex_);
    if (offset_bytes > capacity_bytes_ || length_bytes > capacity_bytes_ - offset_bytes)
      throw io_error(ENOSPC, "allocate", name_, offset_bytes,
                     static_cast<std::size_t>(length_bytes));
    grow_to(offset_bytes + length_bytes);
  }

  std::size_t alignment_bytes() const noexcept override { return options_.alignment_bytes; }
  std::string const& name() const noexcept override { return name_; }

  void start(attempt work) noexcept override {
    if (options_.own_thread) return line_.hold(std::move(work), delay_line::clock::now());
    move(work);
  }
  bool withdraw(request const& owner) noexcept override { return line_.withdraw(owner); }

 private:
  void move(attempt const& work) noexcept {
    work.owner->attempt_ended(work.kind == operation::read ? read_now(work) : write_now(work));
  }

  std::int64_t read_now(attempt const& work) noexcept {
    std::lock_guard lock(mutex_);
    if (work.offset_bytes >= content_.size()) return 0;
    auto const there = content_.begin() + static_cast<std::ptrdiff_t>(work.offset_bytes);
    auto const bytes = std::min<std::ptrdiff_t>(content_.end() - there,
                                                static_cast<std::ptrdiff_t>(work.length_bytes));
    std::copy_n(there, bytes, work.data);
    return bytes;
  }

  std::int64_t write_now(attempt const& work) noexcept {
    std::lock_guard lock(mutex_);
    if (work.offset_bytes >= capacity_bytes_) return -ENOSPC;
    auto const bytes =
        std::min<std::uint64_t>(capacity_bytes_ - work.offset_bytes, work.length_bytes);
    try {
      grow_to(work.offset_bytes + bytes);
    } catch (std::exception const&) {
      return -ENOMEM;
    }
    std::copy_n(work.data, bytes,
                content_.begin() + static_cast<std::ptrdiff_t>(work.offset_bytes));
    return static_cast<std::int64_t>(bytes);
  }

  /// @pre mutex_ is held.
  void grow_to(std::uint64_t bytes) {
    if (bytes > content_.size()) content_.resize(static_cast<std::size_t>(bytes));
  }

  std::string name_;
  std::uint64_t capacity_bytes_;
  memory_file_options options_;
  mutable outsize::detail::process_mutex mutex_;
  std::vector<std::byte> content_;
  delay_line line_;  // last: its thread uses the rest
};

}  // namespace

file_ptr make_memory_file(std::string name, std::uint64_t capacity_bytes,
                          memory_file_options const& options) {
  return std::make_unique<memory_file>(std::move(name), capacity_bytes, options);
}

}  // namespace outsize::io
