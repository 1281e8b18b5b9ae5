#include "app/panels/playground/playground_view.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QEvent>
#include <QGridLayout>
#include <QPushButton>
#include <QResizeEvent>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/spectrum/spectrum.h"
#include "app/panels/playground/plane_view.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int kSpacing = 12;    // pixels
constexpr int kSideBySide = 5;  // widths of a map from which plane and maps are next to each other

Matrix rows_of(const std::vector<QPointF>& points, double scale) {
  Matrix rows(static_cast<Eigen::Index>(points.size()), 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows(static_cast<Eigen::Index>(i), 0) = static_cast<float>(points[i].x() * scale);
    rows(static_cast<Eigen::Index>(i), 1) = static_cast<float>(points[i].y() * scale);
  }
  return rows;
}

ConstMatrixMap seen(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

}  // namespace

MechanismChoice small_choice(const MechanismEntry& entry, std::int64_t tokens) {
  MechanismChoice choice{std::string(entry.name), {}};
  for (const ParameterDescription& parameter : entry.parameters) {
    const auto* whole = std::get_if<std::int64_t>(&parameter.default_value);
    if (!whole) continue;
    if (parameter.name == "conv_heads") {
      choice.parameters[parameter.name] = std::int64_t{1};
      continue;
    }
    if (*whole <= tokens / 2) continue;
    // Windows need an odd width to have a centre; an odd value suits the other parameters, too.
    const std::int64_t half = tokens / 2 - (tokens / 2 + 1) % 2;
    choice.parameters[parameter.name] =
        std::max({half, std::int64_t{1}, static_cast<std::int64_t>(parameter.bounds.minimum)});
  }
  return choice;
}

PlaygroundView::PlaygroundView(const std::vector<std::string>& shown, int tokens, bool tied,
                               QWidget* parent)
    : QWidget(parent) {
  plane_ = new PlaneView;
  plane_->setObjectName("playground_plane");
  count_ = new NumberSlider(tr("Tokens"), {2, 12, 1}, tokens);
  count_->setObjectName("playground_tokens");
  scale_ = new NumberSlider(tr("Length"), {0.1, 5, 0.1, true}, 1);
  scale_->setObjectName("playground_length");
  scale_->setToolTip(tr("All queries and keys are this many times as long"));
  tied_ = new QCheckBox(tr("Keys = queries"));
  tied_->setObjectName("playground_tied");
  tied_->setChecked(tied);
  plane_->set_tied(tied);
  auto* again = new QPushButton(tr("Scatter"));
  again->setToolTip(tr("Other random places"));

  for (const MechanismEntry& entry : mechanisms()) {
    if (!shown.empty() && std::ranges::find(shown, entry.name) == shown.end()) continue;
    const QString title =
        QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size()));
    shown_.push_back({{std::string(entry.name), {}}, new MapThumbnail(title)});
  }
  maps_ = new QWidget;
  grid_ = new QGridLayout(maps_);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(kSpacing);

  auto* hands = new QWidget;
  auto* column = new QVBoxLayout(hands);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(plane_, 1);
  column->addWidget(count_);
  column->addWidget(scale_);
  auto* row = new QHBoxLayout;
  row->addWidget(tied_);
  row->addStretch(1);
  row->addWidget(again);
  column->addLayout(row);
  halves_ = new QBoxLayout(QBoxLayout::TopToBottom, this);
  halves_->setContentsMargins(0, 0, 0, 0);
  halves_->addWidget(hands, 1);
  halves_->addWidget(maps_, 0, Qt::AlignTop);

  connect(plane_, &PlaneView::moved, this, &PlaygroundView::follow);
  connect(scale_, &NumberSlider::value_changed, this, &PlaygroundView::follow);
  connect(count_, &NumberSlider::value_changed, this, &PlaygroundView::scatter);
  connect(tied_, &QCheckBox::toggled, plane_, &PlaneView::set_tied);
  connect(again, &QPushButton::clicked, this, &PlaygroundView::scatter);
  arrange();
  scatter();
}

void PlaygroundView::scatter() {
  std::normal_distribution<double> normal(0, 1.2);
  const auto place = [&] {
    return QPointF(std::clamp(normal(random_), -2.8, 2.8), std::clamp(normal(random_), -2.8, 2.8));
  };
  PlaneTokens tokens;
  const auto count = static_cast<std::size_t>(std::lround(count_->value()));
  std::generate_n(std::back_inserter(tokens.queries), count, place);
  std::generate_n(std::back_inserter(tokens.keys), count, place);
  plane_->set_tokens(std::move(tokens));
}

void PlaygroundView::take_tokens(PlaneTokens tokens) {
  {
    const QSignalBlocker quiet(count_);
    count_->set_value(static_cast<double>(tokens.queries.size()));
  }
  tied_->setChecked(false);
  scale_->set_value(1);
  plane_->set_tokens(std::move(tokens));
}

void PlaygroundView::follow() {
  const Matrix queries = rows_of(plane_->tokens().queries, scale_->value());
  const Matrix keys = rows_of(plane_->tokens().keys, scale_->value());
  if (queries.rows() == 0) return;
  const AttentionInput input{
      .queries = seen(queries), .keys = seen(keys), .values = seen(keys), .heads = 1};
  for (Shown& shown : shown_) {
    try {
      shown.choice = small_choice(find_mechanism(shown.choice.name), queries.rows());
      const Tensor maps = make_mechanism(shown.choice)->implied_map(input);
      const MapSpectrum spectrum = spectrum_of(maps.slice(0));
      shown.thumbnail->set_map(
          maps.slice(0),
          spectrum.state == SpectrumState::ready
              ? tr("rank %1 of %2").arg(spectrum.equivalent_rank).arg(spectrum.tokens)
              : QString::fromUtf8(describe(spectrum.state).data()));
    } catch (const Error& error) {
      shown.thumbnail->set_problem(QString::fromStdString(error.what()));
    }
  }
}

const Matrix& PlaygroundView::map_of(const std::string& mechanism) const {
  const auto found = std::ranges::find_if(
      shown_, [&](const Shown& shown) { return shown.choice.name == mechanism; });
  if (found == shown_.end()) throw unknown_name("mechanism shown", mechanism, "those of the list");
  return found->thumbnail->map();
}

void PlaygroundView::arrange() {
  if (shown_.empty()) return;
  const int each = shown_.front().thumbnail->minimumSizeHint().width() + kSpacing;
  const int count = static_cast<int>(shown_.size());
  // Plane and maps are next to each other if the plane keeps half of the width and enough maps fit
  // into a row.
  const bool beside = width() >= kSideBySide * each;
  halves_->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  halves_->setSpacing(beside ? 2 * kSpacing : 8);
  const int room = beside ? width() / 2 : width();
  const int columns = std::clamp((room + kSpacing) / each, 1, beside ? (count + 2) / 3 : count);
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const int index = static_cast<int>(i);
    grid_->addWidget(shown_[i].thumbnail, index / columns, index % columns);
  }
}

QSize PlaygroundView::minimumSizeHint() const {
  const QSize needed = QWidget::minimumSizeHint();
  if (shown_.empty()) return needed;
  return {std::min(needed.width(), shown_.front().thumbnail->minimumSizeHint().width()),
          needed.height()};
}

void PlaygroundView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

void PlaygroundView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) arrange();
}

}  // namespace attnscope
