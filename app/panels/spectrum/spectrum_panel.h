// Cumulative spectra of all models with their ranks marked, for maps or another chosen matrix, next
// to the spectra before a change.
#pragma once

#include "app/panels/frame/figure_panel.h"

class QToolButton;

namespace attnscope {

class AtlasLink;
class ElidedLabel;
class SpectrumStore;

class SpectrumPanel : public FigurePanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Cumulative spectrum");

  /// Shows the spectrum of the selected map while `atlases` show that map alone.
  SpectrumPanel(Session& session, SpectrumStore& spectra, AtlasLink& atlases,
                QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] QString empty_text() const override;
  /// Adds the faint curves from before a change of I or of the maps.
  [[nodiscard]] Finishing finishing() const override;
  [[nodiscard]] bool awaits_more() const override;

 private:
  void show_ranks();
  void follow_atlases(bool one_map);
  [[nodiscard]] bool changes_identity() const;

  SpectrumStore& spectra_;
  QToolButton* this_map_;
  QToolButton* all_maps_;
  QToolButton* all_channels_;
  QToolButton* null_;
  bool follows_map_ = false;  ///< "This map" was chosen by the atlases, not by the user
  ElidedLabel* ranks_;
};

}  // namespace attnscope
