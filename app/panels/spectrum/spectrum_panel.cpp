#include "app/panels/spectrum/spectrum_panel.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <algorithm>
#include <qcustomplot.h>
#include <string>

#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/segment_button.h"
#include "core/trace/identity_names.h"

namespace attnscope {

SpectrumPanel::SpectrumPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : FigurePanel(tr("Cumulative spectrum"), "cumulative-spectrum", session, parent),
      spectra_(spectra) {
  all_maps_ = segment_button(tr("All maps"), tr("The mean over all layers and heads"), "first");
  this_map_ = segment_button(tr("This map"), tr("The selected layer and head alone"), "last");
  all_maps_->setChecked(true);
  auto* segments = new QWidget;
  auto* row = new QHBoxLayout(segments);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(0);
  row->addWidget(all_maps_);
  row->addWidget(this_map_);
  add_to_header(segments);
  all_channels_ = segment_button(
      tr("All channels"),
      tr("Every channel's maps by themselves, averaged (DAFT); they are run one after the other"),
      "only");
  all_channels_->setObjectName("all_channels");
  all_channels_->setAutoExclusive(false);
  all_channels_->setVisible(false);
  add_to_header(all_channels_);
  plot().setObjectName("spectrum_plot");
  plot().setAccessibleName(tr("Cumulative singular values of all subjects"));

  connect(this_map_, &QToolButton::toggled, this, &SpectrumPanel::want);
  connect(all_channels_, &QToolButton::toggled, this, &SpectrumPanel::want);
  connect(&session, &Session::subjects_changed, this, [this] {
    all_channels_->setVisible(
        std::ranges::any_of(this->session().subjects(), [](const OpenSubject& open) {
          return open.subject.trace && open.subject.trace->map_channels > 1;
        }));
  });
  connect(&spectra, &SpectrumStore::spectra_ready, this, &SpectrumPanel::want);
  connect(&session, &Session::selection_changed, this, [this] {
    if (this_map_->isChecked()) want();
  });
}

QString SpectrumPanel::empty_text() const {
  return tr(
      "Open a model: how fast the singular values of its maps add up is drawn here, and the rank "
      "that follows.");
}

FigureRequest SpectrumPanel::request() const {
  FigureRequest request = with_spectra(session(), spectra_);
  request.settings["threshold"] = session().view().rank_threshold;
  const IdentityView view = session().view().identity;
  request.settings["identity"] = view == IdentityView::as_is
                                     ? std::string("both")
                                     : std::string(name_of(identity_view_names, view));
  if (all_channels_->isChecked() && all_channels_->isVisibleTo(this)) {
    request.settings["channels"] = "all";
    // A trace that was opened holds the maps of one channel: it stays with them.
    const auto fixed = [](const Subject& subject) {
      return subject.trace->map_channels > 1 && !subject.model;
    };
    if (std::ranges::any_of(request.subjects, fixed)) request.settings.erase("channels");
  }
  if (this_map_->isChecked()) {
    const Selection& selection = session().selection();
    request.settings["layer"] = IndexRanges{{selection.layer, selection.layer}};
    request.settings["head"] = IndexRanges{{selection.head, selection.head}};
  }
  return request;
}

}  // namespace attnscope
