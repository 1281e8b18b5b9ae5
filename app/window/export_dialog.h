// Which figure to write, of what width, to which file.
#pragma once

#include <QDialog>

#include "analysis/figure/recipe.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace attnscope {

class Session;

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ExportDialog(Session& session, QWidget* parent = nullptr);

 signals:
  void exported(const QString& file);

 private:
  [[nodiscard]] FigureRequest request() const;
  void show_command();
  void browse();
  void write();
  void show_problem(const QString& text);
  void finish(const Figure& figure, const QString& file);

  Session& session_;
  QComboBox* figure_;
  QLabel* source_;
  QLineEdit* file_;
  QDoubleSpinBox* width_;
  QLineEdit* command_;
  QLabel* problem_;
  QPushButton* write_;
};

}  // namespace attnscope
