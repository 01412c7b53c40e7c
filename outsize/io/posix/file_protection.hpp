// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Who may do what with a file: its owner, group and mode, and its extended attributes, one of which
// is its access control list. A file that replaces another one takes all of them over.
//
// Attributes that describe the contents (security.ima, security.evm) stay with the contents.
// Private to io. Values, which any thread may read. Layer: io.

#include <string>
#include <utility>
#include <vector>

namespace outsize::io::detail {

class file_protection {
 public:
  /// Reads the protection of the file that `path` leads to.
  /// @throws io_error naming `path` if a part of it cannot be read, or if it forbids that the file
  /// is replaced at all (append-only files).
  explicit file_protection(std::string const& path);

  unsigned mode() const noexcept { return mode_; }

  /// Gives all of it to an open file, and takes away a list that this file inherited from its
  /// directory. Repeating it is cheap. The file never has wider rights on the way than at the end
  /// or the beginning.
  /// @throws io_error naming `name` and what cannot be kept, for which the file must not be
  /// published.
  void give_to(int number, std::string const& name) const;

 private:
  void give_owner(int number, std::string const& name) const;
  void give_attributes(int number, std::string const& name) const;
  void give_mode(int number, std::string const& name) const;

  unsigned mode_ = 0;  // with the special bits
  unsigned user_ = 0;
  unsigned group_ = 0;
  std::vector<std::pair<std::string, std::string>> attributes_;  // names and values
};

}  // namespace outsize::io::detail
