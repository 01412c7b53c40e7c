// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/json_file.hpp>

#include <sys/resource.h>

#include <cstdint>

namespace outsize::tool {
namespace {

double seconds(timeval const& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

void json_file::write(nlohmann::ordered_json const& object) {
  output_.write(object.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
  output_.close();
}

std::unique_ptr<json_file> open_json(std::optional<std::string> const& path) {
  return path ? std::make_unique<json_file>(*path) : nullptr;
}

nlohmann::ordered_json resource_fields(outsize::storage& store) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {{"io_wait_seconds", static_cast<double>(store.total_statistics().wait_ns) * 1e-9},
          {"cpu_seconds", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
          {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
          {"threads", store.threads().threads()},
          {"backend", store.file_queue().name()}};
}

}  // namespace outsize::tool
