// A text with a colour behind every token: wrapping, selectable, and a token is chosen by a click.
#pragma once

#include <QTextEdit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

class TextHeat : public QTextEdit {
  Q_OBJECT
 public:
  explicit TextHeat(QWidget* parent = nullptr);

  /// What each token says; keeps place and selection if the text stays the same.
  void set_texts(const std::vector<std::string>& texts);
  /// One weight a token, NaN for those not seen; `end` and `marked` are framed.
  void set_weights(const std::vector<double>& weights, const ColourScale& scale, std::int64_t end,
                   std::optional<std::int64_t> marked);

  /// The token at a place of the viewport, if there is one.
  [[nodiscard]] std::optional<std::int64_t> token_at(const QPoint& place) const;
  /// Where a token stands in the viewport; of one in several lines its first part.
  [[nodiscard]] QRect place_of(std::int64_t token) const;
  [[nodiscard]] QSize sizeHint() const override { return {300, 120}; }

 signals:
  void clicked(std::int64_t token);  ///< pressed on it or dragged to it with the right button
  void hovered(std::optional<std::int64_t> token);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void colour();
  /// Scrolls as far as it takes.
  void show_token(std::int64_t token);

  std::vector<std::string> texts_;
  std::vector<int> starts_;  ///< of each token in the document, and the end
  std::vector<double> weights_;
  ColourScale scale_;
  std::int64_t end_ = 0;
  std::optional<std::int64_t> marked_;
};

}  // namespace attnscope
