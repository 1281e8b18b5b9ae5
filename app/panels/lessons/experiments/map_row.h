// Maps next to each other, as many per row as fit.
#pragma once

#include <QWidget>
#include <vector>

class QGridLayout;

namespace attnscope {

class MapThumbnail;

class MapRow : public QWidget {
 public:
  explicit MapRow(std::vector<MapThumbnail*> maps, QWidget* parent = nullptr);

  /// The width of one map.
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void arrange();

  std::vector<MapThumbnail*> maps_;
  QGridLayout* grid_;
};

}  // namespace attnscope
