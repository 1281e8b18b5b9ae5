// Markdown with formulas between dollars: $…$ in a line, $$…$$ on a line of its own.
#pragma once

#include <QHash>
#include <QObject>
#include <QString>
#include <QTextFormat>
#include <QTextObjectInterface>

#include "app/widgets/formula/formula.h"

class QTextDocument;
class QTextEdit;

namespace attnscope {

/// Draws the formulas of a text document.
class FormulaObject : public QObject, public QTextObjectInterface {
  Q_OBJECT
  Q_INTERFACES(QTextObjectInterface)
 public:
  /// Object type and properties of the character that stands for a formula.
  static constexpr int type = QTextFormat::UserObject + 20;
  static constexpr int tex = QTextFormat::UserProperty + 20;
  static constexpr int display = QTextFormat::UserProperty + 21;
  static constexpr int words = QTextFormat::UserProperty + 22;

  using QObject::QObject;

  QSizeF intrinsicSize(QTextDocument* document, int place, const QTextFormat& format) override;
  void drawObject(QPainter* painter, const QRectF& rect, QTextDocument* document, int place,
                  const QTextFormat& format) override;

 private:
  const Formula& formula_of(const QTextFormat& format);
  /// The font for a formula, made smaller for a display that is too wide.
  QFont fitting_font(const QTextDocument& document, const QTextFormat& format);

  QHash<QString, Formula> read_;
};

/// Shows `markdown` in `view`. A literal dollar is written \$; code is left unchanged. Throws
/// Error(damaged) for a formula that cannot be parsed or is not closed.
void show_markdown(QTextEdit& view, const QString& markdown);

/// The document's text for screen readers and the clipboard, formulas in one line.
[[nodiscard]] QString plain_words(const QTextDocument& document);

}  // namespace attnscope
