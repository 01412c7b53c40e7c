// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A name in a directory that must not outlive its owner or the process, even one that a signal
// ends.
//
// The names of all owners stand in a global table for the signal handler (remove_hidden_outputs),
// which has no other way to reach anything; a process that comes from a fork leaves the other one's
// names alone. Whoever takes an entry out does it by an atomic
// exchange, so a handler never reads a path that is being freed.
// Several threads may own names. Private to io. Layer: io.

#include <atomic>
#include <string>

namespace outsize::io::detail {

struct hidden_entry;

class hidden_name {
 public:
  /// Makes `path` this object's to remove, whether or not it exists yet. If the table is full, only
  /// the destructor removes it.
  explicit hidden_name(std::string path);
  hidden_name(hidden_name const&) = delete;
  hidden_name& operator=(hidden_name const&) = delete;
  /// Removes the name, unless keep() was called, or a fork has made this process of another one,
  /// whose name it is.
  ~hidden_name();

  std::string const& path() const noexcept { return path_; }
  /// The name is no more, or belongs to somebody else.
  void keep() noexcept;

 private:
  std::string path_;
  hidden_entry* entry_;  // what the table holds for it
  std::atomic<hidden_entry*>* slot_ = nullptr;
};

}  // namespace outsize::io::detail
