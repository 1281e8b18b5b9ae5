// The naive twin of every mechanism and its settings, with which the property suite
// (tests/core/attention) compares the fast one. A mechanism without a twin fails the suite.
#pragma once

#include <string_view>
#include <vector>

#include "core/attention/mechanism.h"
#include "tests/support/naive_attention.h"

namespace attnscope {

/// Settings to test; missing ones have their defaults.
struct NaiveCase {
  ParameterValues parameters = {};
  bool square = false;            ///< needs as many keys as queries
  std::int64_t least_tokens = 1;  ///< least number of keys
};

/// Settings and shape whose operations are counted.
struct CountedCase {
  ParameterValues parameters = {};
  AttentionShape shape;
};

struct NaiveTwin {
  std::string_view name;  ///< name of the mechanism

  /// The map of one head, with loops over the equation in double. `choice` holds every parameter.
  /// Keeps to j ≤ i if input.causal is set, and reads the tensors that the mechanism's entry
  /// describes. Null if the mechanism is only counted.
  NaiveMap (*map)(const MechanismChoice& choice, const AttentionInput& input,
                  std::int64_t head) = nullptr;
  std::vector<NaiveCase> cases = {};
  bool gated = false;  ///< queries are as wide as values
  /// Weights are differences, or scores above a threshold: their rounding error does not shrink
  /// with them.
  bool differences = false;
  bool knows_order = false;  ///< depends on the position or on parameters per token
  /// Turns random normal tensors of the entry's shapes into valid tensors.
  void (*prepare)(NamedTensors& tensors) = nullptr;

  /// Executes the equation of the `complete` convention with counting numbers (counted.h), each
  /// component entered under its name. `values` also holds the settings of the accounting.
  void (*count)(const AttentionShape& shape, const TypedValues& values) = nullptr;
  std::vector<CountedCase> counted = {};
};

[[nodiscard]] const std::vector<NaiveTwin>& naive_twins();

/// The twin of that mechanism; null if there is none.
[[nodiscard]] const NaiveTwin* find_naive_twin(std::string_view name);

/// Random values of every tensor that the mechanism's entry describes for those settings, prepared
/// by its twin. `choice` need not be complete.
[[nodiscard]] NamedTensors random_tensors(const MechanismChoice& choice,
                                          const AttentionShape& shape, unsigned seed);

/// The map of any listed mechanism. `choice` need not be complete. Throws if there is no twin.
[[nodiscard]] NaiveMap naive_map(const MechanismChoice& choice, const AttentionInput& input,
                                 std::int64_t head);

}  // namespace attnscope
