// The file that a figure is written to: format, resolution and name, with a proposed name that
// replaces nothing.
#pragma once

#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace attnscope {

class ExportTarget : public QWidget {
  Q_OBJECT
 public:
  explicit ExportTarget(QWidget* parent = nullptr);

  /// Proposes "NAME.pdf" in the folder of the last export, or "NAME-2.pdf" if there is such a file.
  /// A file name that the user chose stays.
  void propose(const QString& name);
  /// Like propose(), but also replaces a name that the user chose: for another figure.
  void propose_anew(const QString& name);
  /// Adds a button at the end of the row.
  void add_button(QWidget* button);

  [[nodiscard]] QString file() const;
  [[nodiscard]] QString extension() const;  ///< ".pdf"
  [[nodiscard]] double dpi() const;

  /// Refuses to replace a file that was read, and asks before replacing any other file.
  [[nodiscard]] bool may_write();
  /// Keeps the folder for the next export.
  void remember() const;
  void show_problem(const QString& text);
  void hide_problem();
  /// Disables the controls while the file that the user confirmed is being written.
  void set_writing(bool writing);

 signals:
  void changed();

 private:
  void take_format();
  void take_file();
  void browse();

  QString name_, proposed_;
  QLabel* problem_;
  QHBoxLayout* row_;
  QComboBox* format_;
  QDoubleSpinBox* dpi_;
  QLineEdit* file_;
  QPushButton* browse_;
};

/// A name for files of a figure of these models: "attention-maps", {"fashion/softmax"} →
/// "attention-maps-fashion-softmax". More than two models are counted.
[[nodiscard]] QString proposed_name(const QString& figure, const QStringList& models);

}  // namespace attnscope
