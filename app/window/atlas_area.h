// The middle of the window: one atlas per subject, arranged for the largest possible maps, and
// cards for files that failed below; with nothing open, three doors.
#pragma once

#include <QWidget>
#include <vector>

#include "app/session/subject_id.h"

class QGridLayout;
class QLabel;
class QMenu;
class QStackedLayout;
class QVBoxLayout;

namespace attnscope {

class AtlasCanvas;
class AtlasCell;
class AtlasLink;
class Session;
class SpectrumStore;

class AtlasArea : public QWidget {
  Q_OBJECT
 public:
  /// `samples`: the menu of sample models.
  AtlasArea(Session& session, SpectrumStore& spectra, AtlasLink& link, QMenu& samples,
            QWidget* parent = nullptr);
  /// True if every visible atlas is completely drawn.
  [[nodiscard]] bool settled() const;
  /// The atlas of a subject, or null.
  [[nodiscard]] AtlasCanvas* canvas(SubjectId subject);
  /// Opens `numbers` at a click on the mean rank of an atlas made from now on.
  void offer_numbers(QMenu& numbers) { numbers_ = &numbers; }
  /// Shows only the atlas of the selected subject, following the selection, or all atlases again.
  void set_alone(bool alone);

 signals:
  /// Requests a command of the window by its id.
  void command_wanted(const QString& id);
  void enlarge_wanted();  ///< an atlas's title line was double-clicked

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] QWidget* make_empty_area(QMenu& samples);
  void update_missing_text();
  [[nodiscard]] std::vector<AtlasCell*> shown_cells() const;
  void make_cells();
  void arrange();
  void place(const std::vector<AtlasCell*>& cells, int columns);
  void refresh();
  void refresh_heads();

  Session& session_;
  SpectrumStore& spectra_;
  AtlasLink& link_;
  QMenu* numbers_ = nullptr;
  const QString no_graphics_;  // reason why maps cannot be drawn; empty if they can
  QStackedLayout* stack_;
  QLabel* missing_ = nullptr;
  QWidget* atlases_;
  QGridLayout* grid_;
  QVBoxLayout* failed_column_;
  std::vector<AtlasCell*> cells_;
  // Cells in the grid, all cells at that time, and the number of columns.
  std::vector<AtlasCell*> placed_, placed_among_;
  int columns_ = 0;
  bool alone_ = false;
  SubjectId selected_ = SubjectId::none;  // shown as selected by its head
};

}  // namespace attnscope
