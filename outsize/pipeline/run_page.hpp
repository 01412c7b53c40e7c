// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A run as one page of HTML that needs no other file: pictures, the load of disks and processors
// over time, and a table of all stages. Values. Layer: pipeline.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <outsize/io/load_series.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::pipeline {

struct run_page {
  /// Bytes to be moved, if somebody knew, and bytes moved.
  struct volume {
    std::string name;
    std::optional<std::uint64_t> predicted_bytes = {};
    std::uint64_t measured_bytes = 0;
    std::string note = {};
  };

  /// A picture that the caller has drawn.
  struct figure {
    std::string title;
    std::string svg;  ///< An element <svg>, in the colours of the page: var(--read), for instance.
    std::string note = {};
  };

  /// A table of the caller. Columns without any cell filled are left out.
  struct listing {
    std::string title;
    std::vector<std::string> headings;
    std::vector<std::vector<std::string>> rows = {};
  };

  std::string title;
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< Name and value.
  std::vector<network_report> networks = {};                    ///< Drawn and listed in order.
  io::load_series load = io::load_series();
  std::vector<volume> volumes = {};
  std::vector<figure> figures = {};    ///< Before all other pictures.
  std::vector<listing> listings = {};  ///< Behind the volumes.

  /// Returns the page, in UTF-8.
  std::string html() const;
};

}  // namespace outsize::pipeline
