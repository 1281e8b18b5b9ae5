// A piece of Markdown as tall as its text, for pages that scroll as a whole. Text is never cut.
#pragma once

#include <QTextBrowser>

namespace attnscope {

class MarkdownPage : public QTextBrowser {
  Q_OBJECT
 public:
  explicit MarkdownPage(QWidget* parent = nullptr);

  /// Shows Markdown with formulas (formula_text.h). Throws Error(damaged).
  void show_text(const QString& markdown);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  [[nodiscard]] QMimeData* createMimeDataFromSelection() const override;

 private:
  void fit();

  QString markdown_;
};

}  // namespace attnscope
