// The user manual: pages of Markdown in assets/manual, with a list of them and a way back.
#pragma once

#include <QWidget>

class QListWidget;
class QTextBrowser;

namespace attnscope {

class ManualWindow : public QWidget {
  Q_OBJECT
 public:
  explicit ManualWindow(QWidget* parent = nullptr);

  /// A page by its name, "spectra"; the first page for a name that is none.
  void show_page(const QString& name);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void find_words(const QString& words);

  QListWidget* pages_;
  QTextBrowser* text_;
};

}  // namespace attnscope
