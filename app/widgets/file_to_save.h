// Dialog for the file to save to, which never replaces a file without the user's consent.
#pragma once

#include <QString>

class QDir;
class QWidget;

namespace attnscope {

/// Asks the user if `file` exists; true if it does not exist or may be replaced.
[[nodiscard]] bool may_replace(QWidget* parent, const QString& file);

/// The first of NAME.pdf, NAME-2.pdf, NAME-3.pdf … that does not exist in the folder, for `suffix`
/// ".pdf".
[[nodiscard]] QString unused_file(const QDir& folder, const QString& name, const QString& suffix);

/// The file that the user chooses. `filter` is a QFileDialog filter; `suffix` (".png") is appended
/// to names that lack it, before the question whether an existing file may be replaced. Empty if
/// the user cancels either dialog.
[[nodiscard]] QString file_to_save(QWidget* parent, const QString& title, const QString& proposed,
                                   const QString& filter, const QString& suffix);

}  // namespace attnscope
