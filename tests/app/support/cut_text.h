// Text that does not fit where it stands.
#pragma once

#include <QStringList>
#include <QWidget>

namespace attnscope {

/// The words of every label, button, page and field under `page` that finds less room than it
/// needs.
[[nodiscard]] QStringList cut_texts(const QWidget& page);

}  // namespace attnscope
