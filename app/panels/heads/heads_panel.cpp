#include "app/panels/heads/heads_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "analysis/heads/head_table.h"
#include "app/panels/frame/figure_page.h"
#include "app/panels/frame/of_button.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/tool_button.h"

namespace attnscope {

namespace {

constexpr std::string_view kFirstMeasure = "normalised_entropy";

QString to_qstring(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

HeadsPanel::HeadsPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  auto* segments = new QWidget;
  auto* row = new QHBoxLayout(segments);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(0);
  by_layer_ =
      segment_button("heads_by_layer", tr("Map"), tr("Layer by head, as a heat map"), "first");
  auto* over_depth = segment_button("heads_over_depth", tr("Depth"),
                                    tr("Each head, sorted, over the layers"), "last");
  by_layer_->setChecked(true);
  row->addWidget(by_layer_);
  row->addWidget(over_depth);
  add_to_header(segments);
  add_measures();
  pages_ = new QStackedWidget;
  for (const char* recipe : {"heads-by-layer", "heads-over-depth"}) {
    auto* page = new FigurePage(tr("Heads"), recipe, session_, [this] { return request(); });
    pages_->addWidget(page);
  }
  body()->addWidget(pages_, 1);
  connect(by_layer_, &QToolButton::toggled, this, [this](bool on) {
    pages_->setCurrentIndex(on ? 0 : 1);
    refresh();
  });
}

void HeadsPanel::add_measures() {
  measure_ = new QComboBox;
  measure_->setObjectName("heads_measure");
  measure_->setAccessibleName(tr("Measure of heads"));
  measure_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  measure_->setMinimumContentsLength(14);
  for (const HeadMeasure& measure : head_measures()) {
    measure_->addItem(to_qstring(measure.title), to_qstring(measure.name));
    measure_->setItemData(measure_->count() - 1, to_qstring(measure.formula), Qt::ToolTipRole);
    if (measure.name == kFirstMeasure) measure_->setCurrentIndex(measure_->count() - 1);
  }
  formula_ = new ElidedLabel(Qt::ElideRight);
  formula_->setObjectName("heads_formula");
  formula_->setProperty("role", "muted");
  auto* row = new QHBoxLayout;
  row->addWidget(measure_);
  row->addWidget(formula_, 1);
  body()->addLayout(row);
  of_ = new OfButton("heads-by-layer");
  of_->setObjectName("heads_of");
  row->addWidget(of_);
  const auto show_formula = [this] {
    of_->setVisible(shows_rank());
    QString formula = measure_->currentData(Qt::ToolTipRole).toString();
    if (shows_rank()) {
      formula = QString::fromStdString(formula_of(
          head_measure(measure_->currentData().toString().toStdString()), of_->analysed()));
    }
    formula_->set_text(formula);
    measure_->setToolTip(formula);
  };
  show_formula();
  connect(of_, &OfButton::another_chosen, this, [this, show_formula] {
    show_formula();
    refresh();
  });
  connect(measure_, &QComboBox::currentIndexChanged, this, [this, show_formula] {
    show_formula();
    refresh();
  });
}

bool HeadsPanel::shows_rank() const {
  return is_rank(head_measure(measure_->currentData().toString().toStdString()));
}

void HeadsPanel::refresh() {
  for (int i = 0; i < pages_->count(); ++i) {
    qobject_cast<FigurePanel*>(pages_->widget(i))->want();
  }
}

FigureRequest HeadsPanel::request() const {
  FigureRequest request = request_of(session_);
  request.settings["measures"] =
      std::vector<std::string>{measure_->currentData().toString().toStdString()};
  if (shows_rank()) {
    of_->set(request.settings);
  }
  request.settings["threshold"] = session_.view().rank_threshold;
  return request;
}

bool HeadsPanel::is_behind() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr && page->is_behind();
}

const Figure* HeadsPanel::figure() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr ? page->figure() : nullptr;
}

}  // namespace attnscope
