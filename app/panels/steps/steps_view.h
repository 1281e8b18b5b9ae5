// One query of one head, drawn step by step: vectors, product or distance, scale, normalisation, I,
// values, output.
#pragma once

#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/head_steps/head_steps.h"

namespace attnscope {

class StepsView : public QWidget {
  Q_OBJECT
 public:
  explicit StepsView(QWidget* parent = nullptr);

  enum class Step { vectors, score, scale, weights, identity, values, output };
  static constexpr int kSteps = 7;

  struct Content {
    HeadSteps steps;
    std::int64_t query = 0;
    std::vector<QString> names;  ///< one per key
    QString query_name;
    QString mechanism;
  };
  /// Sets the content; step and key stay if the key exists.
  void set_content(Content content);
  void clear();

  [[nodiscard]] Step step() const { return step_; }
  void set_step(Step step);
  /// The key that the query is compared with.
  [[nodiscard]] std::int64_t key() const { return key_; }
  void set_key(std::int64_t key);
  /// Description of the current step with its numbers.
  [[nodiscard]] QString words() const;
  /// The rectangle of a key's bar among the weights.
  [[nodiscard]] QRectF bar_of(std::int64_t key) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 200}; }

 signals:
  void stepped();                      ///< the step or key has changed
  void key_hovered(std::int64_t key);  ///< the key under the cursor; −1: none
  void query_wanted(std::int64_t query);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Row {
    Step step;
    QString title;
    double height;  ///< height of the row, relative to others
  };
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] QRectF row_rect(std::size_t row) const;
  [[nodiscard]] QRectF plot_rect(const QRectF& row) const;
  [[nodiscard]] double title_room() const;   ///< pixels at the left of a row
  [[nodiscard]] double number_room() const;  ///< pixels at the right of a row
  [[nodiscard]] std::optional<std::int64_t> key_at(QPointF position) const;
  [[nodiscard]] QString tip_at(QPointF position) const;
  void paint_row(QPainter& painter, const Row& row, const QRectF& place) const;
  void paint_strip(QPainter& painter, const QRectF& place, const std::vector<double>& values,
                   double largest) const;
  void paint_terms(QPainter& painter, const QRectF& place) const;
  void paint_bars(QPainter& painter, const QRectF& place, const std::vector<double>& values) const;
  [[nodiscard]] std::vector<double> key_vector() const;
  [[nodiscard]] std::vector<double> with_identity() const;
  [[nodiscard]] QString number_of(const Row& row) const;

  std::optional<Content> content_;
  Step step_ = Step::vectors;
  std::int64_t key_ = 0;
};

}  // namespace attnscope
