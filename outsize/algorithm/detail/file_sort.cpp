// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/file_sort.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <outsize/io/disk_file.hpp>
#include <outsize/io/input_form.hpp>
#include <outsize/io/lent_windows.hpp>
#include <outsize/record/detail/cut_short.hpp>

namespace outsize::detail {
namespace {

/// The status of a file that is about to be read.
struct stat input_status(std::string const& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw io_error(errno, "open", path);
  if (S_ISDIR(status.st_mode)) throw io_error(EISDIR, "read", path);
  if (::access(path.c_str(), R_OK) != 0) throw io_error(errno, "open", path);
  return status;
}

/// The directory in which an output appears, or nothing if it is written through.
std::optional<std::string> output_directory(std::string const& output) {
  if (output == "-") return std::nullopt;
  std::error_code error;
  // Absolute first: of a name that is still free the other leaves what is relative as it is.
  auto const target =
      std::filesystem::weakly_canonical(std::filesystem::absolute(output, error), error);
  if (error) return std::nullopt;
  auto const status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return std::nullopt;
  return target.parent_path().string();
}

std::uint64_t device_of(std::string const& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
}

/// Whether the disk is a directory on the device of another one.
bool is_directory_beside(disk_options const& disk, std::string const& directory) {
  return !disk.open && !disk.raw && std::filesystem::is_directory(disk.path) &&
         device_of(disk.path) == device_of(directory);
}

/// Whether the disk aligns blocks for the files of outputs, which are past the page cache wherever
/// the back-end knows how.
bool is_aligned_for_outputs(disk_options const& disk, storage_options const& common) {
  if (common.backend == io::backend::mmap) return true;
  return disk.direct.value_or(common.direct) &&
         disk.backend.value_or(common.backend) != io::backend::mmap;
}

/// Those of CSV may end in CR LF, in LF, or with their file.
bool is_same_header(std::string_view one, std::string_view other, line_format const& lines) {
  for (auto* const line : {&one, &other})
    if (lines.csv && line->ends_with('\r')) line->remove_suffix(1);
  return one == other;
}

}  // namespace

std::optional<std::uint64_t> known_input_bytes(std::vector<std::string> const& inputs,
                                               io::input_decoding decoding) {
  std::uint64_t sum = 0;
  bool all_known = true;
  for (std::string const& path : inputs) {
    if (path == "-") {
      all_known = false;
      continue;
    }
    auto const status = input_status(path);
    all_known = all_known && S_ISREG(status.st_mode);
    sum += static_cast<std::uint64_t>(status.st_size);
  }
  // Whatever is known: this refuses what cannot be read.
  bool const any_encoded = decoding.any() && encoded_inputs(inputs, decoding) > 0;
  if (all_known && !any_encoded) return sum;
  return std::nullopt;
}

std::size_t encoded_inputs(std::vector<std::string> const& inputs, io::input_decoding decoding) {
  auto const is_encoded = [decoding](std::string const& path) {
    auto const form = io::form_of_file(path, decoding);
    return form && !form->is_plain();
  };
  return static_cast<std::size_t>(std::ranges::count_if(inputs, is_encoded));
}

void require_whole_items(std::vector<std::string> const& inputs, std::size_t item_bytes) {
  for (std::string const& path : inputs) {
    auto const bytes = static_cast<std::uint64_t>(input_status(path).st_size);
    if (bytes % item_bytes != 0) throw_cut_short(path, bytes, item_bytes);
  }
}

bool is_regular_output(std::string const& output) { return output_directory(output).has_value(); }

void input_header::take_from(record_reader& reader, std::string const& input,
                             line_format const& lines) {
  bool const has_mark = reader.has_mark();
  if (is_first_) has_mark_ = has_mark;
  is_first_ = false;
  delimiter_ = lines.delimiter;
  take_end_from(reader, input);
  auto const line = lines.header ? reader.next() : std::nullopt;
  if (!line) return;  // an empty file has none
  if (!line_) {
    first_input_ = input;
    line_ = *line;
  } else if (!is_same_header(*line, *line_, lines)) {
    throw format_error(fmt::format("{}: its header differs from that of {}", input, first_input_));
  }
}

void input_header::take_end_from(record_reader& reader, std::string const& input) {
  auto const end = reader.end_of_lines();
  if (!end) return;
  if (!found_end_) {
    found_end_ = end;
    input_of_end_ = input;
  } else if (*found_end_ != *end) {
    refuse_other_end(input, *end, input_of_end_);
  }
}

void refuse_other_end(std::string const& input, char end, std::string const& other) {
  throw format_error(fmt::format("{}: its lines end in {}, those of {} in {}", input,
                                 end == '\r' ? "CR alone" : "LF", other,
                                 end == '\r' ? "LF" : "CR alone"));
}

void write_beginning(io::output_stream& out, grant& memory, std::string const& bytes) {
  if (bytes.empty()) return;
  buffer const both = memory.allocate(2 * std::max(page_bytes(), out.alignment_bytes()));
  io::lent_windows windows(out, both.bytes());
  windows.put(std::as_bytes(std::span(bytes)));
  windows.hand_over();
}

void require_space(storage& store, std::uint64_t runs_bytes,
                   std::optional<std::uint64_t> output_bytes, std::string const& output) {
  if (runs_bytes > 0 && store.free_bytes() < runs_bytes)
    throw out_of_space(store.disk_names(), store.free_bytes(), runs_bytes);
  auto const directory = output_directory(output);
  if (!directory || !output_bytes || !std::filesystem::is_directory(*directory)) return;
  // Runs that share the disk with the output take their space away from it.
  bool const shared =
      store.disk_count() == 1 && device_of(store.disk_name(0)) == device_of(*directory);
  std::uint64_t const need = *output_bytes + (shared ? runs_bytes : 0);
  std::uint64_t const have = io::free_space_bytes(*directory);
  if (have < need) throw out_of_space(*directory, have, need);
}

bool may_be_in_output(storage const& store, std::string const& output) {
  auto const directory = output_directory(output);
  if (!directory || !std::filesystem::is_directory(*directory) || store.disk_count() != 1)
    return false;
  auto const& options = store.options();
  auto const& disk = options.disks[0];
  // What a disk may hold, and checksums of all that is on it, are promises of its own.
  return is_directory_beside(disk, *directory) && is_aligned_for_outputs(disk, options) &&
         disk.capacity_bytes == UINT64_MAX && options.checksums != block_checksums::of_all;
}

bool has_space_for(room_layout const& layout, sort_plan const& plan, std::uint64_t output_bytes,
                   std::string const& output) {
  std::uint64_t const have = io::free_space_bytes(*output_directory(output));
  bool const may_fail = have >= layout.length + output_bytes;
  bool const is_only_way = have < plan.least_disk_bytes + output_bytes && have >= layout.length;
  return may_fail || is_only_way;
}

void make_room(std::optional<output_room>& room, storage& store, room_layout const& layout,
               std::string const& output) {
  try {
    room.emplace(store, layout, output);
  } catch (io_error const&) {
    // Who opens the output the ordinary way is told if that is not possible either.
  }
}

void note_room(sort_report& report, output_room const& room, bool has_output) noexcept {
  report.output_over_runs = has_output && report.runs > 0;
  std::uint64_t const length = room.length_bytes();
  report.peak_disk_bytes += length - (has_output ? std::min(length, report.input_bytes) : 0);
}

}  // namespace outsize::detail
