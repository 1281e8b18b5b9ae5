// A wrapping, selectable text with a colour behind every token; a click chooses a token.
#pragma once

#include <QColor>
#include <QTextEdit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

class TextHeat : public QTextEdit {
  Q_OBJECT
 public:
  explicit TextHeat(QWidget* parent = nullptr);

  /// Sets the text of each token; scroll position and selection stay if the texts are the same.
  void set_texts(const std::vector<std::string>& texts);
  /// Sets one weight per token, NaN for tokens that are not seen; `end` and `marked` are framed.
  void set_weights(const std::vector<double>& weights, const ColourScale& scale, std::int64_t end,
                   std::optional<std::int64_t> marked);

  /// Sets one colour behind each token, none where it is invalid, instead of weights and frames.
  void set_grounds(const std::vector<QColor>& grounds);
  /// The first and the last token that the selected text touches.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> selected_tokens() const;

  /// The token at a position of the viewport, if there is one.
  [[nodiscard]] std::optional<std::int64_t> token_at(const QPoint& place) const;
  /// The rectangle of a token in the viewport; only the first part of one that spans several lines.
  [[nodiscard]] QRect place_of(std::int64_t token) const;
  [[nodiscard]] QSize sizeHint() const override { return {300, 120}; }

 signals:
  void clicked(std::int64_t token);  ///< left click, or moved over with the right button held
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
  /// Scrolls as little as needed to show the token.
  void show_token(std::int64_t token);

  std::vector<std::string> texts_;
  std::vector<int> starts_;  ///< position of each token in the document, and the end
  std::vector<double> weights_;
  std::vector<QColor> grounds_;  ///< empty: colours follow from the weights
  ColourScale scale_;
  std::int64_t end_ = 0;
  std::optional<std::int64_t> marked_;
};

}  // namespace attnscope
