#include "app/session/linked_cursor.h"

#include "app/session/session.h"
#include "core/trace/linked_tokens.h"

namespace attnscope {

std::optional<std::int64_t> selected_query(const Session& session, SubjectId subject,
                                           std::int64_t layer) {
  const Selection& selection = session.selection();
  const std::shared_ptr<const Trace> from = session.trace(selection.subject);
  const std::shared_ptr<const Trace> to = session.trace(subject);
  if (!to) return std::nullopt;
  // While the selected subject has no trace, its tokens are assumed to equal those of the others.
  if (!from)
    return selection.query < to->queries(layer) ? std::optional(selection.query) : std::nullopt;
  if (subject == selection.subject && layer == selection.layer) return selection.query;
  return linked_query(*from, selection.layer, selection.query, *to, layer);
}

std::optional<HoveredTokens> hovered_tokens(const Session& session, SubjectId subject) {
  const std::optional<HoveredCell>& hover = session.selection().hover;
  if (!hover) return std::nullopt;
  if (subject == hover->subject) return HoveredTokens{hover->query, hover->key};
  const std::shared_ptr<const Trace> from = session.trace(hover->subject);
  const std::shared_ptr<const Trace> to = session.trace(subject);
  if (!from || !to) return std::nullopt;
  return HoveredTokens{linked_query(*from, hover->layer, hover->query, *to, hover->layer),
                       linked_key(*from, hover->layer, hover->key, *to, hover->layer)};
}

}  // namespace attnscope
