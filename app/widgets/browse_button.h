// "…" button next to a path field that chooses a file or a folder.
#pragma once

#include <QString>
#include <QToolButton>

class QLineEdit;

namespace attnscope {

class BrowseButton : public QToolButton {
  Q_OBJECT
 public:
  /// Writes the chosen path into `field`. `what` names it, such as "a data set"; `filter` is a
  /// QFileDialog filter.
  BrowseButton(const QString& what, const QString& filter, QLineEdit* field,
               QWidget* parent = nullptr);

 signals:
  void chosen(const QString& path);

 private:
  void browse(bool folder);

  QString what_, filter_;
  QLineEdit* field_;
};

}  // namespace attnscope
