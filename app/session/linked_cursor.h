// Where the selected query and the cell under the cursor lie in the other subjects: at the same
// place of the input, which may be another token, or none.
#pragma once

#include <cstdint>
#include <optional>

#include "app/session/subject_id.h"

namespace attnscope {

class Session;

/// The query of a subject's layer at the place of the selected query; none if there is none, or no
/// such layer.
[[nodiscard]] std::optional<std::int64_t> selected_query(const Session& session, SubjectId subject,
                                                         std::int64_t layer);

/// A subject's tokens at the place of the cell under the cursor, in the layer of that cell.
struct HoveredTokens {
  std::optional<std::int64_t> query, key;  ///< none: the subject has no token there
};
/// None where the cursor is over no map, or the subject has not run.
[[nodiscard]] std::optional<HoveredTokens> hovered_tokens(const Session& session,
                                                          SubjectId subject);

}  // namespace attnscope
