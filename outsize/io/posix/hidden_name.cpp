// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/hidden_name.hpp>

#include <unistd.h>

#include <array>
#include <utility>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::io {

/// A name, and whose it is.
struct detail::hidden_entry {
  std::string path;
  outsize::detail::process_mark process;
};

namespace {

using detail::hidden_entry;

static_assert(std::atomic<hidden_entry*>::is_always_lock_free,
              "a signal handler must not meet a lock");

std::array<std::atomic<hidden_entry*>, 64> table;
hidden_entry taken;  // its address stands in the table while a handler reads the path

}  // namespace

namespace detail {

hidden_name::hidden_name(std::string path)
    : path_(std::move(path)), entry_(new hidden_entry{path_, {}}) {
  for (auto& slot : table) {
    hidden_entry* none = nullptr;
    if (slot.compare_exchange_strong(none, entry_)) {
      slot_ = &slot;
      return;
    }
  }
}

hidden_name::~hidden_name() {
  if (entry_ == nullptr) return;
  if (entry_->process.is_current()) ::unlink(path_.c_str());
  keep();
}

void hidden_name::keep() noexcept {
  // Tries again only while a handler in another thread has the entry.
  for (hidden_entry* expected = entry_; slot_ != nullptr; expected = entry_) {
    if (slot_->compare_exchange_weak(expected, nullptr)) break;
  }
  delete entry_;
  entry_ = nullptr;
}

}  // namespace detail

void remove_hidden_outputs() noexcept {
  for (auto& slot : table) {
    hidden_entry* entry = slot.load();
    if (entry == nullptr || entry == &taken || !slot.compare_exchange_strong(entry, &taken))
      continue;
    if (entry->process.is_current()) ::unlink(entry->path.c_str());
    slot.store(entry);
  }
}

}  // namespace outsize::io
