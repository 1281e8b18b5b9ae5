// The middle of the window: one atlas a subject, arranged so that the maps are as large as they can
// be; files that failed as cards below.
#pragma once

#include <QWidget>
#include <vector>

#include "app/session/subject_id.h"

class QGridLayout;
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
  AtlasArea(Session& session, SpectrumStore& spectra, AtlasLink& link, QWidget* parent = nullptr);
  /// Every atlas that can be drawn stands as it will.
  [[nodiscard]] bool settled() const;
  /// The atlas of a subject, or null.
  [[nodiscard]] AtlasCanvas* canvas(SubjectId subject);
  /// Only the selected subject's atlas, whichever that becomes; or all again.
  void set_alone(bool alone);

 signals:
  void open_wanted();
  void samples_wanted();
  void enlarge_wanted();  ///< an atlas's head was double-clicked

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] std::vector<AtlasCell*> shown_cells() const;
  void make_cells();
  void arrange();
  void place(const std::vector<AtlasCell*>& cells, int columns);
  void refresh();
  void refresh_heads();

  Session& session_;
  SpectrumStore& spectra_;
  AtlasLink& link_;
  const QString no_graphics_;  // why maps cannot be drawn here; empty: they can
  QStackedLayout* stack_;
  QWidget* atlases_;
  QGridLayout* grid_;
  QVBoxLayout* failed_column_;
  std::vector<AtlasCell*> cells_;
  // What stands in the grid, of which cells, in how many columns.
  std::vector<AtlasCell*> placed_, placed_among_;
  int columns_ = 0;
  bool alone_ = false;
};

}  // namespace attnscope
