// What one subject answers: its likeliest classes or next tokens as bars, and what they were before
// its maps were changed.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "app/session/prediction.h"

namespace attnscope {

class AnswerBars : public QWidget {
  Q_OBJECT
 public:
  explicit AnswerBars(QWidget* parent = nullptr);

  struct Row {
    Answer answer;
    std::optional<double> before;  ///< its probability with unchanged maps
    double logit = 0;
    std::optional<double> logit_before;
    bool is_true = false;  ///< of the input's own class
  };
  struct Content {
    std::int64_t place = 0;  ///< of the subject among the open ones: its colour
    QString title;           ///< whose answer it is, and how
    QString verdict;         ///< "right", "wrong: it is a Sandal"; may be empty
    bool right = true;
    std::vector<Row> rows;
    QString instead;  ///< what to say where there are no rows
  };
  void set_content(Content content);
  [[nodiscard]] const Content& content() const { return content_; }
  /// Where a row is drawn.
  [[nodiscard]] QRectF row_rect(std::size_t row) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void clicked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] int line() const;
  void paint_row(QPainter& painter, const Row& row, const QRectF& place) const;

  Content content_;
};

/// "98.2 %", never "100.0 %" of what is less, nor "0.0 %" of what is more.
[[nodiscard]] QString percent_text(double probability);

}  // namespace attnscope
