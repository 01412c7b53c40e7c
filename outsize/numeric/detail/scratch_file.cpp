// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/scratch_file.hpp>

#include <cerrno>
#include <filesystem>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>

namespace outsize::numeric {
namespace {

std::string scratch_directory(storage const& store) {
  for (std::uint32_t d = 0; d < store.disk_count(); ++d)
    if (std::filesystem::is_directory(store.disk_name(d))) return store.disk_name(d);
  auto const parent = std::filesystem::path(store.disk_name(0)).parent_path();
  return parent.empty() ? std::string(".") : parent.string();
}

}  // namespace

io::file_ptr make_scratch_file(storage& store, io::request_queue& queue, bool direct) {
  io::file_ptr file = io::make_temporary_file(scratch_directory(store), queue, direct);
  file->count_into(&store.file_statistics());
  return file;
}

void allocate_scratch(storage const& store, io::file& scratch, std::uint64_t length_bytes) {
  std::uint64_t const rounded = round_up<std::uint64_t>(length_bytes, 1 << 16);
  try {
    scratch.allocate(0, rounded);
  } catch (io_error const& e) {
    if (e.code().value() != ENOSPC) throw;
    throw io::no_space(scratch_directory(store), rounded);
  }
}

}  // namespace outsize::numeric
