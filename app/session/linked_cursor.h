// The selected query and the hovered cell in other subjects, linked by their position in the input,
// which may be a different token or none; and the selection of the last token of a new text.
#pragma once

#include <QObject>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/session/subject_id.h"

namespace attnscope {

class Session;

/// The query of a subject's layer at the position of the selected query; nullopt if there is no
/// such query or layer.
[[nodiscard]] std::optional<std::int64_t> selected_query(const Session& session, SubjectId subject,
                                                         std::int64_t layer);

/// A subject's tokens at the position of the hovered cell, in the layer of that cell.
struct HoveredTokens {
  std::optional<std::int64_t> query, key;  ///< nullopt if the subject has no token there
};
/// nullopt if the cursor is not over a map, or the subject has not run.
[[nodiscard]] std::optional<HoveredTokens> hovered_tokens(const Session& session,
                                                          SubjectId subject);

/// Selects the last token of a new text, because its keys are asked for first. A restored session
/// keeps its own query.
class TextEnd : public QObject {
  Q_OBJECT
 public:
  explicit TextEnd(Session& session, QObject* parent = nullptr);

 private:
  void follow();

  Session& session_;
  std::vector<std::string> followed_;    // the last text whose end was selected
  std::optional<std::string> restored_;  // input of a restored session, whose query is kept
};

}  // namespace attnscope
