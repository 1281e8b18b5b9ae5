// "…" beside a field for a path: a file, or a folder where folders can be meant, too.
#pragma once

#include <QString>
#include <QToolButton>

class QLineEdit;

namespace attnscope {

class BrowseButton : public QToolButton {
  Q_OBJECT
 public:
  /// Fills `field` with what is chosen. `what`: "a data set"; `filter` as QFileDialog's.
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
