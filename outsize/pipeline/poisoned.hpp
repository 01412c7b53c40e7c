// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How those who wait for others learn that the work has failed. Layer: pipeline.

#include <outsize/base/error.hpp>

namespace outsize::pipeline {

/// What ports and channels throw when the work they belong to has failed or was cancelled: let it
/// pass. The reason is with whoever stopped it (network, stage_group).
class poisoned : public cancelled {
 public:
  poisoned() : cancelled("a stage of the work") {}
};

}  // namespace outsize::pipeline
