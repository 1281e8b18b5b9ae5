#include "app/session/text_end.h"

#include <memory>
#include <utility>

#include "app/session/session.h"
#include "core/trace/linked_tokens.h"

namespace attnscope {

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
