// The cumulative spectra of all subjects, with the ranks marked.
#pragma once

#include "app/panels/frame/figure_panel.h"

class QToolButton;

namespace attnscope {

class SpectrumStore;

class SpectrumPanel : public FigurePanel {
  Q_OBJECT
 public:
  SpectrumPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] QString empty_text() const override;

 private:
  SpectrumStore& spectra_;
  QToolButton* this_map_;
  QToolButton* all_maps_;
  QToolButton* all_channels_;
};

}  // namespace attnscope
