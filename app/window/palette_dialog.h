// The command palette: finds any command of the window by a few letters.
#pragma once

#include <QDialog>
#include <QList>
#include <QString>
#include <functional>

class QLineEdit;
class QListWidget;

namespace attnscope {

struct PaletteEntry {
  QString text;   ///< "Lay adder over fashion-softmax"
  QString place;  ///< "View", "Lessons"; shown after the text
  QString key;    ///< shortcut; may be empty
  std::function<void()> run;
};

class PaletteDialog : public QDialog {
  Q_OBJECT
 public:
  PaletteDialog(QList<PaletteEntry> entries, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter();
  void choose();

  QList<PaletteEntry> entries_;
  QLineEdit* words_;
  QListWidget* list_;
};

/// Distance between `text` and the letters of `typed` in their order: smaller is better, -1: no
/// match. Beginnings of words and unbroken runs are near.
[[nodiscard]] int palette_distance(const QString& text, const QString& typed);

}  // namespace attnscope
