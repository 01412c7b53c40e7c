// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/hidden_name.hpp>

#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include <outsize/io/output_stream.hpp>

namespace outsize::io {
namespace {

static_assert(std::atomic<char*>::is_always_lock_free, "a signal handler must not meet a lock");

std::array<std::atomic<char*>, 64> table;
char taken;  // its address stands in the table while a handler reads the path

}  // namespace

namespace detail {

hidden_name::hidden_name(std::string path)
    : path_(std::move(path)), entry_(new char[path_.size() + 1]) {
  std::memcpy(entry_, path_.c_str(), path_.size() + 1);
  for (auto& slot : table) {
    char* none = nullptr;
    if (slot.compare_exchange_strong(none, entry_)) {
      slot_ = &slot;
      return;
    }
  }
}

hidden_name::~hidden_name() {
  if (entry_ == nullptr) return;
  ::unlink(path_.c_str());
  keep();
}

void hidden_name::keep() noexcept {
  // Tries again only while a handler in another thread has the entry.
  for (char* expected = entry_; slot_ != nullptr; expected = entry_) {
    if (slot_->compare_exchange_weak(expected, nullptr)) break;
  }
  delete[] entry_;
  entry_ = nullptr;
}

}  // namespace detail

void remove_hidden_outputs() noexcept {
  for (auto& slot : table) {
    char* path = slot.load();
    if (path == nullptr || path == &taken || !slot.compare_exchange_strong(path, &taken)) continue;
    ::unlink(path);
    slot.store(path);
  }
}

}  // namespace outsize::io
