// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A disk's measured speed for people and as JSON, as `bench disk` and `info` show it. Layer: tools.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <tools/outsize/disk_probe.hpp>

namespace outsize::tool {

/// The fields of the speed in bytes per second, and the conditions of the measurement.
nlohmann::ordered_json disk_report(disk_probe_options const& options, disk_speed const& speed);

/// Lines of "  name   value", each ended by a newline.
std::string describe_disk(disk_probe_options const& options, disk_speed const& speed);

/// One such line.
std::string report_line(std::string_view name, std::string_view value);

/// Writes the object to `path`, "-" being stdout. Errors: io_error.
void write_json_file(std::string const& path, nlohmann::ordered_json const& object);

}  // namespace outsize::tool
