// A small attention map drawn through a colour map, with a caption below it.
#pragma once

#include <QString>
#include <QWidget>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope {

class MapThumbnail : public QWidget {
  Q_OBJECT
 public:
  explicit MapThumbnail(const QString& title, QWidget* parent = nullptr);

  /// Colours run from 0 (or the least value, if that is negative) to the largest. `words` is the
  /// caption, such as the map's rank.
  void set_map(Matrix map, const QString& words);
  /// Shows why the map is missing.
  void set_problem(const QString& problem);
  void set_colour_map(const std::string& name);

  [[nodiscard]] const Matrix& map() const { return map_; }
  [[nodiscard]] const QString& words() const { return words_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF cells() const;

  QString title_, words_;
  bool is_problem_ = false;
  std::string colour_map_ = "viridis";
  Matrix map_;
};

}  // namespace attnscope
