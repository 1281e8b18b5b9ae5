// Bars of one model's likeliest classes or next tokens, with their values before its maps were
// changed.
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
    std::optional<double> before;  ///< probability with unchanged maps
    double logit = 0;
    std::optional<double> logit_before;
    bool is_true = false;  ///< the input's own class
  };
  struct Content {
    std::int64_t place = 0;  ///< index of the model among the open ones, which gives its colour
    QString title;           ///< name of the model, and the kind of answer
    QString verdict;         ///< "right", "wrong: it is a Sandal"; may be empty
    bool right = true;
    std::vector<Row> rows;
    QString instead;  ///< text shown if there are no rows
  };
  void set_content(Content content);
  [[nodiscard]] const Content& content() const { return content_; }
  /// The rectangle of a row.
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

/// Text such as "98.2 %"; probabilities that round to 100 % or 0 % become "> 99.9 %" and "< 0.1 %".
[[nodiscard]] QString percent_text(double probability);

}  // namespace attnscope
