#include "app/window/ablation_menu.h"

#include <QMenu>
#include <algorithm>

#include "app/session/session.h"

namespace attnscope {

void add_ablation_menu(QMenu& menu, Session& session, SubjectId subject, std::int64_t layer,
                       std::int64_t head) {
  const OpenSubject* const open = session.find(subject);
  if (!open || !open->subject.model || !open->subject.trace) return;
  QMenu* const without = menu.addMenu(QObject::tr("Without this head"));
  without->setObjectName("without_head");
  const auto replaced = std::ranges::find_if(open->what_if.heads, [&](const ReplacedHead& one) {
    return one.layer == layer && one.head == head;
  });
  const bool is_replaced = replaced != open->what_if.heads.end();
  const auto add = [&](const QString& text, const char* name, const ReplacedHead& next) {
    QAction* const action = without->addAction(text, &session, [&session, subject, next] {
      if (const OpenSubject* const now = session.find(subject)) {
        session.set_what_if(subject, with_head(now->what_if, next));
      }
    });
    action->setObjectName(name);
    action->setCheckable(true);
    action->setChecked(is_replaced && *replaced == next);
  };
  add(QObject::tr("Nothing in its place (zero)"), "without_zero", {layer, head});
  add(QObject::tr("Equal weights"), "without_uniform", {layer, head, HeadReplacement::uniform});
  add(QObject::tr("Its mean row for every query"), "without_mean",
      {layer, head, HeadReplacement::mean_row});
  for (std::int64_t other = 0; other < open->subject.trace->heads(layer); ++other) {
    if (other == head) continue;
    add(QObject::tr("The map of head %1").arg(other), "without_other",
        {layer, head, HeadReplacement::other_head, other});
  }
  if (!is_replaced) return;
  without->addSeparator();
  without
      ->addAction(QObject::tr("Put it back"), &session,
                  [&session, subject, layer, head] {
                    if (const OpenSubject* const now = session.find(subject)) {
                      session.set_what_if(subject, without_replacement(now->what_if, layer, head));
                    }
                  })
      ->setObjectName("put_back");
}

}  // namespace attnscope
