// Models written from scratch that differ in properties which no tensor shows:
// tests/data/fit/make_references.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/hashed_weights.h"

namespace attnscope {

/// The tensors of make_references.py: two layers of width 24.
[[nodiscard]] NamedShapes scratch_gpt(bool fused, bool positions);

/// One variation, with the options that differ from the base model. Its reference is
/// tests/data/fit/NAME.npz.
struct Variation {
  const char* name;
  std::map<std::string, std::string> said = {};
  bool fused = false;
  bool positions = true;  ///< true if the file has learned positions
};

[[nodiscard]] const std::vector<Variation>& variations();

/// `said` completed with the options of the base model.
[[nodiscard]] std::map<std::string, std::string> with_usual(
    const std::map<std::string, std::string>& said);

}  // namespace attnscope
