// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What reports on networks derive from the measurements, and how they write numbers and names.
//
// Pure functions. Names come from users and may hold any byte; what leaves here can be shown.
// Layer: pipeline, internal.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/pipeline/network_report.hpp>

namespace outsize::pipeline::detail {

/// How a stage spent the run: shares of its length times the most replicas that there were at once.
struct stage_shares {
  double busy = 0;
  double input_wait = 0;
  double other_wait = 0;
};
stage_shares shares_of(network_report const& r, network_report::stage const& s);

/// The stage that sets the pace: the one with the most busy seconds for each of its replicas. None
/// if none was busy.
std::optional<std::size_t> bottleneck_of(network_report const& r);

/// "14 MiB of 16 MiB of memory". @pre its total is known.
std::string memory_line(memory_report const& memory);

/// How busy the threads were together that stages and nodes share: 1 is all of them all the time.
double threads_share(network_report const& r);

/// "512 MiB/s"; "-" if there was no time.
std::string format_rate(std::uint64_t bytes, double seconds);

/// "1.25 s", "340 ms", "12 us".
std::string format_seconds(double seconds);

/// "93%".
std::string format_share(double share);

/// The characters of a text in UTF-8; bytes that are none become U+FFFD.
std::vector<std::string_view> characters_of(std::string_view text);

/// One line of at most `most` characters (at least one): what cannot be shown becomes spaces,
/// and an ellipsis stands for what is cut off.
std::string shortened(std::string_view text, std::size_t most);

/// A text within XML or HTML. Characters that these do not allow become spaces.
std::string xml_text(std::string_view text);

/// "3 MiB of 4 MiB": the memory that a stage used, and that it was granted; empty if not known.
std::string memory_of(network_report::stage const& s);

/// "node · own thread · 2 of 4 at once": the kind of a stage, and what else is not as usual.
std::string circumstances(network_report const& r, network_report::stage const& s,
                          std::string_view separator);

/// "6 × 1 MiB, grew by 2".
std::string pool_size(network_report const& r, network_report::pool const& p);

/// The stages whose buffers go home.
std::set<std::size_t> last_stages(network_report const& r);

}  // namespace outsize::pipeline::detail
