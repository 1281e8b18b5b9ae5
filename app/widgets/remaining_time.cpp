#include "app/widgets/remaining_time.h"

#include <QObject>
#include <cmath>

namespace attnscope {

QString remaining_time(double seconds) {
  if (seconds < 90) {
    return QObject::tr("about %1 s left").arg(std::max(1, static_cast<int>(std::lround(seconds))));
  }
  return QObject::tr("about %1 min left").arg(static_cast<int>(std::lround(seconds / 60)));
}

}  // namespace attnscope
