// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/sort_trace.hpp>

#include <outsize/algorithm/sort_page.hpp>

namespace outsize::tool {

nlohmann::ordered_json sort_networks_json(sort_report const& report) {
  auto all = nlohmann::ordered_json::array();
  for (auto const& network : sort_networks(report)) {
    auto stages = nlohmann::ordered_json::array();
    for (auto const& stage : network.stages) {
      stages.push_back({{"name", stage.name},
                        {"busy_seconds", stage.busy_seconds},
                        {"wait_seconds", stage.input_wait_seconds + stage.other_wait_seconds}});
    }
    all.push_back({{"name", network.name}, {"seconds", network.seconds}, {"stages", stages}});
  }
  return all;
}

void sort_trace::write(sort_report const& report) {
  file_.write(pipeline::chrome_trace(sort_networks(report), io_));
  file_.close();
}

}  // namespace outsize::tool
