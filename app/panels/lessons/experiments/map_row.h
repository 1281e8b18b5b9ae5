// Maps beside each other, as many in a row as there is room for.
#pragma once

#include <QWidget>
#include <vector>

class QGridLayout;

namespace attnscope {

class MapThumbnail;

class MapRow : public QWidget {
 public:
  explicit MapRow(std::vector<MapThumbnail*> maps, QWidget* parent = nullptr);

  /// One map wide.
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
