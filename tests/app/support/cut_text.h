// Finds text that does not fit into its widget.
#pragma once

#include <QStringList>
#include <QWidget>

namespace attnscope {

/// The texts of all labels, buttons, text fields and other widgets under `page` that have less
/// space than they need.
[[nodiscard]] QStringList cut_texts(const QWidget& page);

}  // namespace attnscope
