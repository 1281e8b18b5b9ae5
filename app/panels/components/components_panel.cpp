#include "app/panels/components/components_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSpinBox>
#include <QVBoxLayout>
#include <qcustomplot.h>

#include "analysis/matrix/matrix_kind.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_combo_box.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr int kMost = 16, kUsual = 4;

bool has_maps(const Trace& trace) { return trace.heads() > 0; }

}  // namespace

ComponentsPanel::ComponentsPanel(Session& session, QWidget* parent)
    : FigurePanel(tr(kTitle), "components", session, parent) {
  show_ = new ElidedComboBox;
  show_->setObjectName("components_show");
  show_->setAccessibleName(tr("Vectors of each component"));
  show_->addItem(tr("keys and queries"), "both");
  show_->addItem(tr("keys v"), "keys");
  show_->addItem(tr("queries u"), "queries");
  show_->setToolTip(
      tr("A = Σ σ u vᵀ: v says which keys a component reads, u which queries use it"));
  count_ = new QSpinBox;
  count_->setObjectName("components_count");
  count_->setAccessibleName(tr("Number of components"));
  count_->setRange(1, kMost);
  count_->setValue(kUsual);
  count_->setToolTip(tr("Number of components, the leading ones first"));
  auto* row = new QHBoxLayout;
  row->setSpacing(6);
  row->addWidget(show_, 1);
  row->addWidget(count_);
  body()->insertLayout(0, row);
  plot().setAccessibleName(tr("Leading components of the selected map"));
  connect(show_, &QComboBox::currentIndexChanged, this, &ComponentsPanel::want);
  connect(count_, &QSpinBox::valueChanged, this, &ComponentsPanel::want);
  const auto show_matrix = [this] { note_matrix(this->session().view().matrix); };
  connect(&session, &Session::view_changed, this, show_matrix);
  show_matrix();
  connect(&session, &Session::selection_changed, this, &ComponentsPanel::want);
}

QString ComponentsPanel::empty_text() const {
  return tr(
      "Open a model: the selected map's leading singular vectors are drawn here, over the picture "
      "or the text.");
}

FigureRequest ComponentsPanel::request() const {
  FigureRequest request = request_of_selected(session(), has_maps);
  const Selection& selection = session().selection();
  request.settings["layer"] = selection.layer;
  request.settings["head"] = selection.head;
  request.settings["count"] = static_cast<std::int64_t>(count_->value());
  request.settings["show"] = show_->currentData().toString().toStdString();
  const MatrixChoice& matrix = session().view().matrix;
  set_matrix(matrix, request.settings);
  // I is only added to maps.
  const IdentityView view =
      takes_identity(matrix.of) ? session().view().identity : IdentityView::as_is;
  request.settings["identity"] = std::string(name_of(identity_view_names, view));
  return request;
}

}  // namespace attnscope
