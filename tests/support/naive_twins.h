// The naive twin of every mechanism: what the property suite (tests/core/attention) compares the
// fast one with, and on which settings. A mechanism without a twin fails the suite.
#pragma once

#include <string_view>
#include <vector>

#include "core/attention/mechanism.h"
#include "tests/support/naive_attention.h"

namespace attnscope {

/// Settings to be tried; those left out are the defaults.
struct NaiveCase {
  ParameterValues parameters = {};
  bool square = false;            ///< needs as many keys as queries
  std::int64_t least_tokens = 1;  ///< needs so many keys
};

/// Settings and extents whose operations are counted.
struct CountedCase {
  ParameterValues parameters = {};
  AttentionShape shape;
};

struct NaiveTwin {
  std::string_view name;  ///< of the mechanism

  /// The map of one head, loops over the equation in double. `choice` holds every parameter; keeps
  /// to j ≤ i where input.causal says so; reads the tensors that its entry describes. Null for what
  /// is counted only.
  NaiveMap (*map)(const MechanismChoice& choice, const AttentionInput& input,
                  std::int64_t head) = nullptr;
  std::vector<NaiveCase> cases = {};
  bool gated = false;        ///< queries are as wide as values
  bool knows_order = false;  ///< by position, or by parameters for each token
  /// Makes random normal tensors of the entry's extents what such tensors are.
  void (*prepare)(NamedTensors& tensors) = nullptr;

  /// Executes the equation of the `complete` convention over counting numbers (counted.h), each
  /// component entered under its name. `values` holds the accounting's settings too.
  void (*count)(const AttentionShape& shape, const TypedValues& values) = nullptr;
  std::vector<CountedCase> counted = {};
};

[[nodiscard]] const std::vector<NaiveTwin>& naive_twins();

/// Null if the mechanism has none.
[[nodiscard]] const NaiveTwin* find_naive_twin(std::string_view name);

/// Every tensor that the mechanism's entry describes for those settings, random, as its twin wants
/// them. `choice` need not be complete.
[[nodiscard]] NamedTensors random_tensors(const MechanismChoice& choice,
                                          const AttentionShape& shape, unsigned seed);

/// The map of any mechanism of the list. `choice` need not be complete. Throws if there is no twin.
[[nodiscard]] NaiveMap naive_map(const MechanismChoice& choice, const AttentionInput& input,
                                 std::int64_t head);

}  // namespace attnscope
