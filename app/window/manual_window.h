// The user manual: the Markdown pages of assets/manual with a list of pages and a Back button.
#pragma once

#include <QWidget>

class QListWidget;
class QTextBrowser;

namespace attnscope {

class ManualWindow : public QWidget {
  Q_OBJECT
 public:
  explicit ManualWindow(QWidget* parent = nullptr);

  /// Shows a page by its name, such as "spectra"; the first page for an unknown name.
  void show_page(const QString& name);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void find_words(const QString& words);

  QListWidget* pages_;
  QTextBrowser* text_;
};

}  // namespace attnscope
