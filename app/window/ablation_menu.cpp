#include "app/window/ablation_menu.h"

#include <QFileDialog>
#include <QMenu>
#include <algorithm>
#include <string>

#include "app/session/session.h"
#include "core/attention/mechanism.h"

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
  const auto add = [&](const QString& text, const char* name, const ReplacedHead& next,
                       QMenu* into = nullptr) {
    QAction* const action =
        (into ? into : without)->addAction(text, &session, [&session, subject, next] {
          if (const OpenSubject* const now = session.find(subject)) {
            session.set_what_if(subject, with_head(now->what_if, next));
          }
        });
    action->setObjectName(name);
    action->setCheckable(true);
    action->setChecked(is_replaced && *replaced == next);
  };
  add(QObject::tr("Zero"), "without_zero", {layer, head});
  add(QObject::tr("Equal weights"), "without_uniform", {layer, head, HeadReplacement::uniform});
  add(QObject::tr("Mean row of this map"), "without_mean",
      {layer, head, HeadReplacement::mean_row});
  for (std::int64_t other = 0; other < open->subject.trace->heads(layer); ++other) {
    if (other == head) continue;
    add(QObject::tr("Map of head %1").arg(other), "without_other",
        {layer, head, HeadReplacement::other_head, other});
  }
  without->addSeparator();
  QMenu* const mechanisms_menu =
      without->addMenu(QObject::tr("Map of another mechanism on the same Q, K"));
  mechanisms_menu->setObjectName("without_attention");
  for (const MechanismEntry& entry : mechanisms()) {
    const bool hides = entry.causal || !open->subject.trace->causal;
    if (entry.name == open->subject.mechanism.name || !hides) continue;
    ReplacedHead next{layer, head, HeadReplacement::other_attention};
    next.mechanism = make_mechanism({std::string(entry.name), {}})->choice();
    add(QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size())),
        "without_as", next, mechanisms_menu);
  }
  const auto over = [&session, subject, layer, head](const QString& path) {
    const OpenSubject* const now = session.find(subject);
    if (!now || path.isEmpty()) return;
    ReplacedHead next{layer, head, HeadReplacement::mean_over_data};
    next.data_set = path.toStdString();
    session.set_what_if(subject, with_head(now->what_if, next));
  };
  without
      ->addAction(
          QObject::tr("Mean map over a data set…"), &session,
          [over, window = menu.parentWidget()] {
            over(QFileDialog::getOpenFileName(
                window, QObject::tr("Choose a data set"), {},
                QObject::tr("Data sets (*.gz *.h5 *.hdf5 *.npz *ubyte *.txt);;All files (*)")));
          })
      ->setObjectName("without_data");
  without
      ->addAction(QObject::tr("Mean map over class folders…"), &session,
                  [over, window = menu.parentWidget()] {
                    over(QFileDialog::getExistingDirectory(
                        window, QObject::tr("Choose a folder with one folder a class")));
                  })
      ->setObjectName("without_folders");
  if (!is_replaced) return;
  without->addSeparator();
  without
      ->addAction(QObject::tr("Restore map"), &session,
                  [&session, subject, layer, head] {
                    if (const OpenSubject* const now = session.find(subject)) {
                      session.set_what_if(subject, without_replacement(now->what_if, layer, head));
                    }
                  })
      ->setObjectName("put_back");
}

}  // namespace attnscope
