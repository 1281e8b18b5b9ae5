// Where something is saved: no file is replaced but on the user's word.
#pragma once

#include <QString>

class QWidget;

namespace attnscope {

/// Asks the user where something stands in the place of `file`; true if it may be replaced, or
/// nothing stands there.
[[nodiscard]] bool may_replace(QWidget* parent, const QString& file);

/// The file that the user chooses, with `suffix` (".png") behind a name that ends otherwise, as
/// `filter` of QFileDialog says what it is. The suffix comes first, and then the question whether a
/// file that is there may be replaced. Empty where the user cancels either.
[[nodiscard]] QString file_to_save(QWidget* parent, const QString& title, const QString& proposed,
                                   const QString& filter, const QString& suffix);

}  // namespace attnscope
