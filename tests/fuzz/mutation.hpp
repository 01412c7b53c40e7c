// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Inputs made from others by random changes, for fuzzing without libFuzzer. Pure functions of their
// arguments.

#include <random>
#include <string>
#include <vector>

namespace outsize::fuzz {

/// One of `seeds`, which are some, with one to eight changes: bytes flipped, replaced, removed,
/// doubled, or exchanged for a stretch of another seed.
std::string mutated(std::vector<std::string> const& seeds, std::mt19937_64& random);

}  // namespace outsize::fuzz
