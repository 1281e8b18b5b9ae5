// A field for a path or another line of text, and the "…" button next to it that chooses a file or
// a folder.
#pragma once

#include <QString>
#include <QToolButton>

class QLineEdit;

namespace attnscope {

class BrowseButton : public QToolButton {
  Q_OBJECT
 public:
  enum class Paths { files_and_folders, files };

  /// Writes the chosen path into `field`. `what` names it, such as "a data set"; `filter` is a
  /// QFileDialog filter.
  BrowseButton(const QString& what, const QString& filter, QLineEdit* field,
               QWidget* parent = nullptr, Paths paths = Paths::files_and_folders);

 signals:
  void chosen(const QString& path);

 private:
  void browse(bool folder);

  QString what_, filter_;
  QLineEdit* field_;
};

/// `name` is the object name for tests, `what` the accessible name and tool tip, `hint` the
/// placeholder text.
[[nodiscard]] QLineEdit* line_field(const QString& name, const QString& what, const QString& hint);

}  // namespace attnscope
