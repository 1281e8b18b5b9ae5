// The command palette: finds any command of the window by a few letters.
#pragma once

#include <QDialog>
#include <QList>
#include <QString>
#include <functional>

class QLineEdit;
class QTreeWidget;

namespace attnscope {

struct PaletteEntry {
  QString text;   ///< "Lay adder over fashion-softmax"
  QString place;  ///< "View", "Learn": the heading under which it is listed
  QString key;    ///< shortcut; may be empty
  std::function<void()> run;
};

/// The matches in groups by their places, the best group and the best match of each first; keys
/// stand in a column of their own.
class PaletteDialog : public QDialog {
  Q_OBJECT
 public:
  PaletteDialog(QList<PaletteEntry> entries, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter();
  void move(int by);
  void choose();

  QList<PaletteEntry> entries_;
  QLineEdit* words_;
  QTreeWidget* list_;
};

/// Distance between `text` and the letters of `typed` in their order: smaller is better, -1: no
/// match. Beginnings of words and unbroken runs are near.
[[nodiscard]] int palette_distance(const QString& text, const QString& typed);

}  // namespace attnscope
