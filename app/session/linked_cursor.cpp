#include "app/session/linked_cursor.h"

#include <memory>
#include <utility>

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

TextEnd::TextEnd(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::subjects_changed, this, &TextEnd::follow);
  connect(&session_, &Session::restored, this, [this] { restored_ = session_.input_locator(); });
}

void TextEnd::follow() {
  for (const OpenSubject& open : session_.subjects()) {
    const std::shared_ptr<const Trace>& trace = open.subject.trace;
    if (!trace || trace->layout.texts.empty()) continue;
    if (trace->layout.texts == followed_) return;
    followed_ = trace->layout.texts;
    if (std::exchange(restored_, std::nullopt) == session_.input_locator()) return;
    Selection selection = session_.selection();
    const std::int64_t last = trace->tokens() - 1;
    const std::shared_ptr<const Trace> selected = session_.trace(selection.subject);
    selection.query = selected
                          ? linked_query(*trace, selection.layer, last, *selected, selection.layer)
                                .value_or(selection.query)
                          : last;
    session_.select(selection);
    return;
  }
}

}  // namespace attnscope
