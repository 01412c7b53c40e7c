// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Reports as JSON. Layer: tools. One thread at a time.

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <outsize/block/storage.hpp>
#include <tools/outsize/output_file.hpp>

namespace outsize::tool {

/// A file that gets one object. It is opened before the work, so that a report that cannot be
/// written costs nothing, and appears with write().
class json_file {
 public:
  /// Opens `path`, "-" being stdout. @throws as output_file.
  explicit json_file(std::string const& path) : output_(path) {}

  /// Call it once. Writes ASCII, so that a terminal only shows it; bytes of strings that are not
  /// UTF-8 become U+FFFD. @throws as output_file.
  void write(nlohmann::ordered_json const& object);

 private:
  output_file output_;
};

/// The file of that name, or null where no report was asked for. @throws as json_file.
std::unique_ptr<json_file> open_json(std::optional<std::string> const& path);

/// What the process has used so far, and what it works with, as fields of a report: time of
/// processors and of waiting for the storage's disks, resident memory, threads, back-end.
nlohmann::ordered_json resource_fields(outsize::storage& store);

}  // namespace outsize::tool
