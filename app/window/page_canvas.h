// A page of several figures at its size on paper, on which they are arranged by mouse and keys.
#pragma once

#include <QImage>
#include <QWidget>
#include <map>
#include <optional>
#include <vector>

#include "app/window/page_draft.h"

class QLineEdit;

namespace attnscope {

class PageCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit PageCanvas(QWidget* parent = nullptr);

  /// Shows the arrangement at once, with the pictures that are known already.
  void arrange(const PageDraft& draft);
  /// Shows the page drawn from the last arrangement.
  void show_page(const Figure& figure);
  /// Sets the resolution in pixels per inch: that of the screen is the true size.
  void set_dpi(double dpi);

  [[nodiscard]] int selected() const { return selected_; }
  void select(int id);
  /// Edits the title of a panel in its place.
  void edit_title(int id);

  /// The rectangle of a panel in pixels; empty if there is none.
  [[nodiscard]] QRect place_of(int id) const;
  /// The place in which a panel at this point would be put.
  [[nodiscard]] PagePlace place_at(const QPoint& point) const;

 signals:
  void chosen(int id);
  void move_wanted(int id, const attnscope::PagePlace& place);
  void step_wanted(int id, int columns, int rows);
  void widen_wanted(int id, int twelfths);
  void title_wanted(int id, const QString& title);
  void removal_wanted(int id);
  void settings_wanted(int id);
  void figure_dropped(const QString& recipe, const attnscope::PagePlace& place);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// A panel on the page, in mm.
  struct Slot {
    int id = 0;
    std::size_t row = 0, column = 0;
    QRectF mm;
    QString title, figure;
  };
  struct Drag {
    int id = 0;
    QPoint from;                  ///< where the button was pressed
    bool moves = false;           ///< far enough to be no click
    std::optional<int> boundary;  ///< pixels of the boundary after the panel, if that is dragged
  };

  void lay_out(const PageDraft::Rows& rows, double width_mm);
  void resize_to_page();
  void cut_pictures();
  void draw_page();
  void commit_title();
  void describe();
  [[nodiscard]] double scale() const { return dpi_ / 25.4; }  ///< pixels per mm
  [[nodiscard]] const Slot* slot(int id) const;
  [[nodiscard]] const Slot* slot_at(const QPoint& point) const;
  /// The panel before the boundary at this point.
  [[nodiscard]] const Slot* boundary_at(const QPoint& point) const;
  [[nodiscard]] QRect pixels(const QRectF& mm) const;
  [[nodiscard]] QRect marker(const PagePlace& place) const;
  [[nodiscard]] int other_row(int id, int rows) const;

  std::vector<Slot> slots_;
  std::map<int, QImage> pictures_;  ///< pictures of panels, from the page drawn last
  std::map<int, double> heights_;   ///< heights of panels, mm
  Figure figure_;
  QImage page_;            ///< the page drawn last
  bool is_drawn_ = false;  ///< page_ has the present arrangement
  double dpi_ = 96, width_mm_ = 174, height_mm_ = 60;
  int selected_ = 0;
  std::optional<Drag> drag_;
  QPoint mouse_;
  std::optional<PagePlace> drop_;  ///< place under a figure dragged from elsewhere
  QLineEdit* title_;
  int titled_ = 0;  ///< the panel whose title is edited; 0: none
};

}  // namespace attnscope
