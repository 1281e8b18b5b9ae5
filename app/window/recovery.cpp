#include "app/window/recovery.h"

#include <QDateTime>
#include <QFileInfo>
#include <QLocale>
#include <utility>

#include "app/session/autosave.h"
#include "app/window/notice_bar.h"

namespace attnscope {

Recovery::Recovery(const std::vector<std::filesystem::path>& left, Autosave& autosave,
                   NoticeBar& notice, std::function<bool(const std::filesystem::path&)> open)
    : QObject(&notice),
      left_(left.begin(), left.end()),
      autosave_(autosave),
      notice_(notice),
      open_(std::move(open)) {
  offer_next();
}

void Recovery::offer_next() {
  if (left_.empty()) return;
  const QFileInfo file(QString::fromStdString(left_.front().string()));
  const QString when = QLocale::c().toString(file.lastModified(), "d MMM yyyy, HH:mm");
  QString text = tr("Attnscope crashed. Restore the session of %1?").arg(when);
  if (left_.size() > 1) {
    text =
        tr("%1 windows crashed. Restore the latest session (%2)? The others are offered after it.")
            .arg(left_.size())
            .arg(when);
  }
  notice_.offer(text, {tr("Restore"), [this] { open_next(); }},
                {tr("Discard"), [this] { discard_next(); }});
}

void Recovery::open_next() {
  const std::filesystem::path file = left_.front();
  // The session recovered before is kept, otherwise the next recovery would replace it.
  const std::filesystem::path before =
      shows_recovered_ ? autosave_.leave_behind() : std::filesystem::path();
  if (!open_(file)) {
    if (!before.empty()) Autosave::discard(before);
    return offer_next();  // offered again once the error is dismissed
  }
  shows_recovered_ = true;
  left_.pop_front();
  autosave_.save();
  Autosave::discard(file);
  if (!before.empty()) left_.push_back(before);
  offer_next();
}

void Recovery::discard_next() {
  Autosave::discard(left_.front());
  left_.pop_front();
  offer_next();
}

}  // namespace attnscope
