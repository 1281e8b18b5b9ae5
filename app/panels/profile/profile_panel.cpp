#include "app/panels/profile/profile_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <qcustomplot.h>
#include <utility>

#include "analysis/figure/series_style.h"
#include "app/canvas/atlas_link.h"
#include "app/panels/frame/plot_instrument.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/widgets/tool_button.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

constexpr int kProfileDelayMs = 40;

QString number(double value) { return QString::number(value, 'g', 3); }

QString values_in_words(const MapValues& values) {
  if (values.finite == 0) return ProfilePanel::tr("no value");
  QString text = ProfilePanel::tr("%1 to %2, mean %3 ± %4; rows sum to %5")
                     .arg(number(values.least), number(values.greatest), number(values.mean),
                          number(values.deviation), number(values.least_row_sum));
  if (number(values.greatest_row_sum) != number(values.least_row_sum)) {
    text += ProfilePanel::tr(" to %1").arg(number(values.greatest_row_sum));
  }
  if (values.zeros > 0) {
    text += ProfilePanel::tr("; %1 % zeros")
                .arg(number(100.0 * static_cast<double>(values.zeros) /
                            static_cast<double>(values.finite)));
  }
  if (values.not_finite > 0) text += ProfilePanel::tr("; ⚠ %1 not finite").arg(values.not_finite);
  return text;
}

}  // namespace

ProfilePanel::ProfilePanel(Session& session, AtlasLink& atlases, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), atlases_(atlases) {
  row_ = segment_button("profile_row", tr("Row"), tr("The selected query's weights over the keys"),
                        "first");
  column_ = segment_button("profile_column", tr("Column"),
                           tr("The weights that all queries give to the selected token"), "middle");
  distance_ = segment_button("profile_distance", tr("Distance"),
                             tr("The mean weight by |query − key|"), "last");
  row_->setChecked(true);
  auto* segments = new QWidget;
  auto* across = new QHBoxLayout(segments);
  across->setContentsMargins(0, 0, 6, 0);
  across->setSpacing(0);
  for (QToolButton* button : {row_, column_, distance_}) {
    across->addWidget(button);
    connect(button, &QToolButton::toggled, this, &ProfilePanel::want);
  }
  add_to_header(segments);
  plot_ = new QCustomPlot;
  plot_->setObjectName("profile_plot");
  plot_->setAccessibleName(tr("Profile of the selected map of every model"));
  constexpr int kLeastHeight = 110;
  plot_->setMinimumHeight(kLeastHeight);
  instrument_ = new PlotInstrument(*plot_);
  connect(instrument_, &PlotInstrument::axes_wanted, this, &ProfilePanel::draw);
  numbers_ = new QLabel;
  numbers_->setObjectName("map_numbers");
  numbers_->setWordWrap(true);
  numbers_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  numbers_->setProperty("role", "muted");
  body()->addWidget(plot_, 1);
  body()->addWidget(numbers_);
  delay_.setSingleShot(true);
  delay_.setInterval(kProfileDelayMs);
  connect(&delay_, &QTimer::timeout, this, &ProfilePanel::refresh);
  connect(&session_, &Session::subjects_changed, this, &ProfilePanel::want);
  connect(&session_, &Session::selection_changed, this, &ProfilePanel::want);
  connect(&session_, &Session::view_changed, this, &ProfilePanel::want);
  show_instead(
      tr("Open a model: a row, a column or the mean over distances of the selected map "
         "is drawn here."));
}

void ProfilePanel::want() {
  if (is_seen() && !delay_.isActive()) delay_.start();
}

std::vector<double> ProfilePanel::profile(const ShownMaps& maps, const MapCell& cell) const {
  const MapExtent extent = maps.extent(cell.layer, cell.column);
  if (distance_->isChecked()) return means_over_distance(maps, cell.layer, cell.column);
  std::vector<double> values;
  if (row_->isChecked()) {
    if (cell.query < 0 || cell.query >= extent.queries) return {};
    std::vector<float> row(static_cast<std::size_t>(extent.keys));
    maps.row(cell.layer, cell.column, cell.query, 0, row);
    values.assign(row.begin(), row.end());
    return values;
  }
  if (cell.key < 0 || cell.key >= extent.keys) return {};
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    values.push_back(static_cast<double>(maps.value({cell.layer, cell.column, query, cell.key})));
  }
  return values;
}

void ProfilePanel::refresh() {
  const Selection& selection = session_.selection();
  auto figure = std::make_shared<Figure>();
  figure->name = "map-profile";
  attnscope::Panel panel;
  panel.x.label = row_->isChecked() ? "key" : column_->isChecked() ? "query" : "|query − key|";
  panel.y.label = "weight";
  panel.legend = LegendPosition::below;
  QStringList said;
  for (const OpenSubject& open : session_.subjects()) {
    const std::shared_ptr<const ShownMaps> maps = atlases_.maps(open.id);
    if (!maps || selection.layer >= maps->grid().layers) continue;
    const bool fused = maps->settings().head_fusion != HeadFusion::none;
    MapCell cell{selection.layer, fused ? 0 : selection.head, -1, -1};
    if (cell.column >= maps->grid().columns) continue;
    if (const auto query = selected_query(session_, open.id, selection.layer)) {
      cell.query = maps->row_of(selection.layer, *query);
      cell.key = maps->column_of(selection.layer, *query);
    }
    const auto place = static_cast<std::size_t>(session_.place_of(open.id));
    const QString name = QString::fromStdString(open.subject.label);
    said << QString("[%1] %2: %3")
                .arg(place + 1)
                .arg(name, values_in_words(map_values(*maps, cell.layer, cell.column)));
    Line line;
    line.label = open.subject.label;
    line.colour = subject_colour(place);
    line.y = profile(*maps, cell);
    for (std::size_t at = 0; at < line.y.size(); ++at) line.x.push_back(static_cast<double>(at));
    line.keys = {{"model", open.subject.label},
                 {"layer", std::to_string(selection.layer + session_.view().first_layer)},
                 {"head", std::to_string(cell.column)}};
    if (!line.y.empty()) panel.marks.emplace_back(std::move(line));
  }
  figure->panels.push_back(std::move(panel));
  figure_ = std::move(figure);
  show_instead(said.isEmpty() ? tr("Drawn as soon as a model has maps.") : QString());
  numbers_->setText(said.join('\n'));
  draw();
}

void ProfilePanel::draw() {
  if (figure_) instrument_->show(figure_, *this);
}

void ProfilePanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  come_to_front();
}

void ProfilePanel::come_to_front() { delay_.start(); }

void ProfilePanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  QTimer::singleShot(0, this, &ProfilePanel::draw);
}

void ProfilePanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) draw();
}

MapValues map_values(const ShownMaps& maps, std::int64_t layer, std::int64_t column) {
  const MapExtent extent = maps.extent(layer, column);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MapValues found{kInfinity, -kInfinity, 0, 0, kInfinity, -kInfinity};
  double squares = 0;
  std::vector<float> row(static_cast<std::size_t>(extent.keys));
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    maps.row(layer, column, query, 0, row);
    double sum = 0;
    for (const float one : row) {
      const auto value = static_cast<double>(one);
      if (!std::isfinite(value)) {
        ++found.not_finite;
        continue;
      }
      ++found.finite;
      if (value == 0) ++found.zeros;
      found.least = std::min(found.least, value);
      found.greatest = std::max(found.greatest, value);
      sum += value;
      squares += value * value;
    }
    found.mean += sum;
    found.least_row_sum = std::min(found.least_row_sum, sum);
    found.greatest_row_sum = std::max(found.greatest_row_sum, sum);
  }
  if (found.finite == 0) {
    const std::int64_t not_finite = found.not_finite;
    found = {};
    found.not_finite = not_finite;
    return found;
  }
  const auto count = static_cast<double>(found.finite);
  found.mean /= count;
  found.deviation = std::sqrt(std::max(0.0, squares / count - found.mean * found.mean));
  return found;
}

std::vector<double> means_over_distance(const ShownMaps& maps, std::int64_t layer,
                                        std::int64_t column) {
  const MapExtent extent = maps.extent(layer, column);
  if (extent.queries != extent.keys || extent.keys == 0) return {};
  std::vector<double> sums(static_cast<std::size_t>(extent.keys));
  std::vector<std::int64_t> counts(sums.size());
  std::vector<float> row(sums.size());
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    maps.row(layer, column, query, 0, row);
    for (std::int64_t key = 0; key < extent.keys; ++key) {
      const float value = row[static_cast<std::size_t>(key)];
      if (!std::isfinite(value)) continue;
      const auto at = static_cast<std::size_t>(std::abs(query - key));
      sums[at] += static_cast<double>(value);
      ++counts[at];
    }
  }
  for (std::size_t at = 0; at < sums.size(); ++at) {
    sums[at] = counts[at] > 0 ? sums[at] / static_cast<double>(counts[at])
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return sums;
}

}  // namespace attnscope
