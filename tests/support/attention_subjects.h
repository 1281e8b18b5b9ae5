// Models with real attention over made-up tokens, for tests of figures and views.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

struct SubjectShape {
  std::int64_t layers = 3, heads = 2;
  std::int64_t grid_rows = 7, grid_columns = 7;
  std::int64_t prefix = 1;
  std::int64_t head_width = 16;
};

/// A subject without model or input file. Its tokens are smooth over the grid, more so in later
/// layers, and the mechanism computes its maps from them. The result is deterministic.
[[nodiscard]] Subject attention_subject(const std::string& label, const MechanismChoice& mechanism,
                                        const SubjectShape& shape = {}, unsigned seed = 1);

/// A model of tests/data/models/families with made-up weights, written to `folder`, and its run on
/// the tokens `ids` with recorded queries, keys and values.
[[nodiscard]] Subject family_subject(const std::filesystem::path& folder, const std::string& family,
                                     std::vector<std::int64_t> ids);

}  // namespace attnscope
