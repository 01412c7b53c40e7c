// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a fuzz target is: promises that hold for any bytes whatever, and inputs to begin with.
//
// Each target is one source that defines check(), seeds() and mutation_count(). It is linked with
// mutated_inputs_test.cpp to a test of the suite, and with libfuzzer_entry.cpp to a program of
// libFuzzer, which looks for broken promises as long as one likes. One thread at a time.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::fuzz {

/// A promise that did not hold, as a sentence.
class broken_promise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, std::string const& promise) {
  if (!holds) throw broken_promise(promise);
}

/// The first bytes of an input choose what is tried, the rest is what it is tried on.
class input_bytes {
 public:
  explicit input_bytes(std::string_view all) : rest_(all) {}

  /// The next byte; 0 if there is none.
  std::uint8_t take() {
    if (rest_.empty()) return 0;
    auto const byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// What stands in front of `delimiter`, which goes with it; all if it does not come.
  std::string_view take_until(char delimiter) {
    auto const taken = rest_.substr(0, rest_.find(delimiter));
    rest_.remove_prefix(taken.size() == rest_.size() ? taken.size() : taken.size() + 1);
    return taken;
  }
  std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

// ---- each target defines ----

/// Tries `input`. @throws broken_promise; whatever else leaves it is a fault, too.
void check(std::string_view input);

/// Inputs that get far.
std::vector<std::string> seeds();

/// How many mutated inputs the test tries: as many as take a second.
std::size_t mutation_count();

}  // namespace outsize::fuzz
