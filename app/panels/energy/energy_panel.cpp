#include "app/panels/energy/energy_panel.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/energy/architecture.h"
#include "app/panels/energy/energy_controls.h"
#include "app/panels/energy/measure_page.h"
#include "app/panels/frame/figure_page.h"
#include "app/render/render.h"
#include "app/session/session.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {

namespace {

enum EnergyPage { kComponents, kLayers, kShare, kGrowth, kTable, kMeasured };

// Width in pixels that fits the view buttons next to each other.
constexpr int kEnergyWidth = 500;

/// Width D, heads H and tokens N of the layer that stands for the network.
struct LayerExtents {
  std::int64_t width = 384, heads = 6, tokens = 0;
};

LayerExtents extents_of(std::int64_t width, std::int64_t heads, std::int64_t tokens) {
  return {width, heads > 0 && width % heads == 0 ? heads : 1, tokens};
}

std::vector<Subject> models_of(const Session& session) {
  std::vector<Subject> subjects;
  for (const OpenSubject& open : session.subjects()) {
    if (!open.subject.model) continue;
    Subject subject = open.subject;
    // Costs of a network do not need a run.
    subject.input = nullptr;
    subject.trace = nullptr;
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

LayerExtents layer_extents(const std::string& network, const std::vector<Subject>& models) {
  if (const NamedNetwork* named = find_named_architecture(network)) {
    const Stage stage = named->make(*named, {}).stages.front();
    return extents_of(stage.width, stage.heads, stage.tokens);
  }
  if (models.empty()) return {};
  const ModelSpec& spec = models.front().model->spec();
  try {
    const Stage stage = architecture_of(spec, models.front().label).stages.front();
    return extents_of(stage.width, stage.heads, stage.tokens);
  } catch (const Error&) {
    // Width and heads are known, but the number of tokens depends on the input.
    return extents_of(spec.width, spec.layer.attention.heads, 0);
  }
}

/// File patterns such as "*.pdf *.svg *.png" of the drawn formats, or of the others.
QString extensions(bool drawn) {
  QStringList list;
  for (const ExportFormat& format : export_formats()) {
    if (format.drawn != drawn) continue;
    list << "*" + QString::fromUtf8(format.extension.data(), std::ssize(format.extension));
  }
  return list.join(' ');
}

}  // namespace

EnergyPanel::EnergyPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  QToolButton* const exporting = add_action("export", tr("Export this figure or its numbers"));
  exporting->setObjectName("energy_export");
  connect(exporting, &QToolButton::clicked, this, &EnergyPanel::export_figure);

  segments_ = new Segments;
  choosers_ = new EnergyChoosers;
  sliders_ = new EnergySliders;
  pages_ = new QStackedWidget;
  body()->addWidget(segments_);
  body()->addWidget(choosers_);
  body()->addWidget(pages_, 1);
  body()->addWidget(sliders_);

  components_ = new FigurePage(tr("Energy by component"), "energy-breakdown", session_,
                               [this] { return networks_request(); });
  layers_ = new FigurePage(tr("Energy by layer"), "energy-breakdown", session_,
                           [this] { return layers_request(); });
  measure_ = new MeasurePage(session_, [this] { return measure_request(); });
  add_page(tr("Components"), tr("Energy by component, a bar a network"), components_);
  add_page(tr("Layers"), tr("Energy layer by layer"), layers_);
  add_page(tr("Share"), tr("Attention against feed-forward layers"),
           new FigurePage(tr("Attention against FFN"), "energy-share", session_,
                          [this] { return share_request(); }));
  add_page(tr("Growth"), tr("Energy of a layer as tokens grow, with the crossings"),
           new FigurePage(tr("Energy as tokens grow"), "energy-growth", session_,
                          [this] { return growth_request(); }));
  add_page(tr("Table"), tr("Operations, energy and parameters as numbers"),
           new FigurePage(tr("Operations and energy"), "operations-table", session_,
                          [this] { return table_request(); }));
  add_page(tr("Measured"), tr("Complexity and parameters next to measured time and memory"),
           measure_);

  connect(choosers_, &EnergyChoosers::changed, this, &EnergyPanel::refresh);
  connect(sliders_, &EnergySliders::changed, this, &EnergyPanel::refresh);
  connect(&session_, &Session::subjects_changed, this, &EnergyPanel::refresh);
  connect(components_, &FigurePanel::drawn, this, &EnergyPanel::take_references);
  set_preferred_width(kEnergyWidth);
  turn_to(kComponents);
}

void EnergyPanel::add_page(const QString& name, const QString& tip, QWidget* page) {
  const int index = pages_->addWidget(page);
  const char* place = index == kComponents ? "first" : index == kMeasured ? "last" : "middle";
  QToolButton* const button =
      segment_button("energy_view_" + QString::number(index), name, tip, place);
  button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  button->setChecked(index == kComponents);
  segments_->add(button);
  connect(button, &QToolButton::toggled, this, [this, index](bool on) {
    if (on) turn_to(index);
  });
}

void EnergyPanel::turn_to(int page) {
  pages_->setCurrentIndex(page);
  const bool of_networks = page != kGrowth && page != kMeasured;
  choosers_->show_lists(true, true, page == kComponents || page == kLayers);
  sliders_->show_for(shown_mechanisms(), of_networks || page == kMeasured);
  refresh();
}

std::vector<std::string> EnergyPanel::shown_mechanisms() const {
  std::vector<std::string> names = choosers_->mechanisms();
  const int page = pages_->currentIndex();
  if (!names.empty()) return names;
  if (page == kGrowth || page == kMeasured) {
    for (const MechanismEntry& entry : counted_mechanisms()) names.emplace_back(entry.name);
    return names;
  }
  if (const NamedNetwork* named = find_named_architecture(choosers_->network())) {
    return {named->make(*named, {}).mechanism.name};
  }
  for (const Subject& subject : models_of(session_)) names.push_back(subject.mechanism.name);
  // The papers' examples: softmax, adder, hash.
  if (names.empty()) names = {"softmax", "adder", "hash"};
  return names;
}

FigureRequest EnergyPanel::networks_request() const {
  FigureRequest request;
  const std::string network = choosers_->network();
  if (network.empty()) request.subjects = models_of(session_);
  const std::size_t shown = std::max<std::size_t>(choosers_->mechanisms().size(), 1) *
                            std::max<std::size_t>(request.subjects.size(), 1);
  // Settings at their defaults are left out of the command line.
  if (!network.empty()) request.settings["networks"] = std::vector<std::string>{network};
  if (!choosers_->mechanisms().empty()) request.settings["mechanisms"] = choosers_->mechanisms();
  if (sliders_->tokens() > 0) request.settings["tokens"] = sliders_->tokens();
  if (const auto parameters = sliders_->parameters(); !parameters.empty()) {
    request.settings["parameters"] = parameters;
  }
  request.settings["convention"] = choosers_->convention();
  if (choosers_->constants() != "fp32") request.settings["constants"] = choosers_->constants();
  // Without a network the recipe shows the papers' three.
  const bool examples = network.empty() && request.subjects.empty();
  if (choosers_->reference() > 0 &&
      (examples || choosers_->reference() <= static_cast<int>(shown))) {
    request.settings["relative"] = std::int64_t{choosers_->reference()};
  }
  return request;
}

FigureRequest EnergyPanel::layers_request() const {
  FigureRequest request = networks_request();
  request.settings["by"] = "layer";
  return request;
}

FigureRequest EnergyPanel::share_request() const {
  FigureRequest request = networks_request();
  request.settings.erase("relative");
  return request;
}

FigureRequest EnergyPanel::table_request() const { return share_request(); }

FigureRequest EnergyPanel::growth_request() const {
  FigureRequest request = share_request();
  const LayerExtents extents = layer_extents(choosers_->network(), request.subjects);
  request.subjects.clear();
  request.settings.erase("networks");
  request.settings.erase("tokens");
  request.settings["width"] = extents.width;
  request.settings["heads"] = extents.heads;
  return request;
}

FigureRequest EnergyPanel::measure_request() const {
  constexpr std::int64_t kUsual = 1024, kLeast = 256;
  FigureRequest request = growth_request();
  const std::int64_t own = layer_extents(choosers_->network(), models_of(session_)).tokens;
  const std::int64_t tokens =
      sliders_->tokens() > 0 ? sliders_->tokens() : (own >= kLeast ? own : kUsual);
  request.settings["tokens"] = tokens;
  return request;
}

void EnergyPanel::refresh() {
  choosers_->set_models_open(!models_of(session_).empty());
  const int page = pages_->currentIndex();
  sliders_->show_for(shown_mechanisms(), page != kGrowth);
  for (int i = 0; i < pages_->count(); ++i) {
    if (auto* figure_page = qobject_cast<FigurePanel*>(pages_->widget(i))) figure_page->want();
  }
  measure_->refresh();
}

void EnergyPanel::take_references() {
  QStringList labels;
  for (const Tick& tick : components_->figure()->panels.front().x.ticks) {
    labels << QString::fromStdString(tick.label);
  }
  choosers_->set_references(labels);
}

bool EnergyPanel::is_behind() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr && page->is_behind();
}

const Figure* EnergyPanel::figure() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr ? page->figure() : measure_->figure();
}

void EnergyPanel::export_figure() {
  if (figure() == nullptr) return;
  const Figure shown = *figure();
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Export the figure shown"), QString::fromStdString(shown.name + ".pdf"),
      tr("Figures (%1);;Data (%2)").arg(extensions(true), extensions(false)));
  if (file.isEmpty()) return;
  try {
    attnscope::export_figure(shown, file.toStdString());
  } catch (const Error& error) {
    QMessageBox::warning(this, tr("The figure was not written"),
                         QString::fromStdString(error.in_window()));
  }
}

}  // namespace attnscope
