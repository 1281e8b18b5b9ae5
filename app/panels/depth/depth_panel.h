// Ranks and rank-one residuals of maps and tokens per layer, for all models.
#pragma once

#include "app/panels/frame/figure_panel.h"

class QToolButton;

namespace attnscope {

class OfButton;
class SpectrumStore;

class DepthPanel : public FigurePanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Rank over depth");

  DepthPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] QString empty_text() const override;

 private:
  SpectrumStore& spectra_;
  QToolButton* effective_;
  QToolButton* equivalent_;
  OfButton* of_;
};

}  // namespace attnscope
