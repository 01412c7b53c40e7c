// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What all decorators of files have in common: they own a file and pass on to it what they do not
// change.
//
// A decorator sees single attempts, beneath the logic of requests (request.hpp): a short transfer
// that it causes is continued. Requests are issued to, counted by and waited for at the outermost
// file only. Thread rule as file's. Layer: io.

#include <utility>

#include <outsize/io/file.hpp>

namespace outsize::io {

/// Changes nothing. Derived classes override start() and drain() in their destructors.
class file_decorator : public file {
 public:
  std::uint64_t size_bytes() const override { return inner_->size_bytes(); }
  file_version version() const override { return inner_->version(); }
  void resize(std::uint64_t bytes) override { inner_->resize(bytes); }
  void allocate(std::uint64_t offset_bytes, std::uint64_t length_bytes) override {
    inner_->allocate(offset_bytes, length_bytes);
  }
  void sync() override { inner_->sync(); }
  std::size_t alignment_bytes() const noexcept override { return inner_->alignment_bytes(); }
  std::string const& name() const noexcept override { return inner_->name(); }
  void start(attempt work) noexcept override { inner_->start(std::move(work)); }
  bool withdraw(request const& owner) noexcept override { return inner_->withdraw(owner); }

 protected:
  explicit file_decorator(file_ptr inner) : inner_(std::move(inner)) {}
  file& inner() const noexcept { return *inner_; }

 private:
  file_ptr inner_;
};

}  // namespace outsize::io
