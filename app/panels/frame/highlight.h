// Frames around the parts of the window that a sentence, a step or a dragged file is about.
#pragma once

#include <QList>
#include <QRect>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QWidget>

namespace attnscope {

class Session;

/// Covers the window without taking mouse or keys. A frame follows its part, and is hidden while
/// the part is not visible.
class Highlight : public QWidget {
  Q_OBJECT
 public:
  Highlight(QWidget& window, const Session& session);

  /// Frames these parts, for `milliseconds` or (0) until the next call. "maps" are the atlases,
  /// "maps_2" that of the second model, "map" the selected map, "row" its selected row, "number"
  /// the corner with its number, "dock:NAME" the dock of a panel or of its page. Every other name
  /// is the object name of a control; "a+b" is one frame around both.
  void show_parts(const QStringList& parts, int milliseconds = 0);
  /// Frames the whole window, with a text in its middle.
  void show_text(const QString& text);
  void clear();

  /// The frames' inner rectangles in the window.
  [[nodiscard]] const QList<QRect>& frames() const { return frames_; }
  [[nodiscard]] const QString& text() const { return text_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void begin(const QStringList& parts, const QString& text);
  void follow();
  [[nodiscard]] QRect text_box() const;
  [[nodiscard]] QList<QRect> places_of(const QString& part) const;

  QWidget& window_;
  const Session& session_;
  QStringList parts_;
  QString text_;
  QList<QRect> frames_;
  QTimer clock_, end_;
};

}  // namespace attnscope
