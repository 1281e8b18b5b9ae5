#include "app/panels/depth/depth_panel.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <qcustomplot.h>
#include <string>

#include "app/panels/frame/of_button.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/tool_button.h"
#include "core/trace/trace.h"

namespace attnscope {

DepthPanel::DepthPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : FigurePanel(tr(kTitle), "rank-over-depth", session, parent), spectra_(spectra) {
  effective_ =
      segment_button("depth_effective", tr("Effective"),
                     tr("Effective rank: exp of the entropy of the singular values"), "first");
  equivalent_ = segment_button(
      "depth_equivalent", tr("Equivalent"),
      tr("Equivalent rank: the fewest singular values that hold the share τ"), "last");
  effective_->setChecked(true);
  auto* segments = new QWidget;
  auto* row = new QHBoxLayout(segments);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(0);
  row->addWidget(effective_);
  row->addWidget(equivalent_);
  add_to_header(segments);
  of_ = new OfButton("rank-by-layer");
  of_->setObjectName("depth_of");
  add_to_header(of_);
  // rank-over-depth shows maps and tokens; other matrices only have a rank per layer.
  connect(of_, &OfButton::another_chosen, this, [this] {
    set_recipe(of_->is_map() ? "rank-over-depth" : "rank-by-layer");
    want();
  });
  plot().setAccessibleName(tr("Rank and distance from rank one over the layers of all models"));

  connect(equivalent_, &QToolButton::toggled, this, &DepthPanel::want);
  connect(&spectra, &SpectrumStore::spectra_ready, this, &DepthPanel::want);
}

QString DepthPanel::empty_text() const {
  return tr(
      "Open a model: how the rank of its maps and of its tokens changes from layer to layer is "
      "drawn here.");
}

FigureRequest DepthPanel::request() const {
  FigureRequest request = with_spectra(session(), spectra_);
  request.settings["threshold"] = session().view().rank_threshold;
  request.settings["measure"] = equivalent_->isChecked() ? "equivalent" : "effective";
  if (!of_->is_map()) of_->set(request.settings);
  request.settings["identity"] =
      std::string(name_of(identity_view_names, session().view().identity));
  return request;
}

}  // namespace attnscope
