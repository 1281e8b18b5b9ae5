#include "app/panels/energy/energy_sliders.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSlider>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/look/theme.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

/// Integers evenly spaced on a logarithmic scale, about `per_octave` per doubling.
std::vector<std::int64_t> logarithmic_stops(std::int64_t least, std::int64_t most, int per_octave) {
  std::vector<std::int64_t> stops;
  const double octaves = std::log2(static_cast<double>(most) / static_cast<double>(least));
  const auto steps = std::lround(octaves * per_octave);
  for (long step = 0; step <= steps; ++step) {
    const double exact = static_cast<double>(least) *
                         std::exp2(static_cast<double>(step) / static_cast<double>(per_octave));
    const std::int64_t stop = std::min<std::int64_t>(std::llround(exact), most);
    if (stops.empty() || stop > stops.back()) stops.push_back(stop);
  }
  return stops;
}

/// 0, then multiples of 64, which pyramids can halve three times.
std::vector<std::int64_t> token_stops() {
  std::vector<std::int64_t> stops{0};
  for (const std::int64_t blocks : logarithmic_stops(1, 1024, 4)) stops.push_back(64 * blocks);
  return stops;
}

std::vector<std::int64_t> every_whole(std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> stops;
  for (std::int64_t stop = least; stop <= most; ++stop) stops.push_back(stop);
  return stops;
}

std::vector<std::int64_t> with_zero(std::vector<std::int64_t> stops) {
  stops.insert(stops.begin(), 0);
  return stops;
}

bool has(const std::string& mechanism, const std::string& parameter) {
  const auto described = find_counted_mechanism(mechanism).counted_parameters();
  return find_description(described, parameter) != nullptr;
}

}  // namespace

ParameterSlider::ParameterSlider(const char* object_name, const QString& name, const QString& tip,
                                 std::vector<std::int64_t> values, std::int64_t start,
                                 const QString& zero_text, QWidget* parent)
    : QWidget(parent), values_(std::move(values)), zero_text_(zero_text) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  auto* title = new QLabel(name);
  title->setProperty("role", "muted");
  title->setMinimumWidth(62);
  slider_ = new QSlider(Qt::Horizontal);
  slider_->setObjectName(object_name);
  slider_->setAccessibleName(name);
  slider_->setToolTip(tip);
  slider_->setRange(0, static_cast<int>(values_.size()) - 1);
  slider_->setMinimumWidth(50);
  label_ = new QLabel;
  label_->setFont(number_font(font()));
  label_->setMinimumWidth(label_->fontMetrics().horizontalAdvance("65 536"));
  label_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row->addWidget(title);
  row->addWidget(slider_, 1);
  row->addWidget(label_);
  const auto nearest =
      std::min_element(values_.begin(), values_.end(), [start](std::int64_t a, std::int64_t b) {
        return std::abs(a - start) < std::abs(b - start);
      });
  start_ = *nearest;
  slider_->setValue(static_cast<int>(nearest - values_.begin()));
  show_value();
  connect(slider_, &QSlider::valueChanged, this, [this] {
    show_value();
    emit changed();
  });
}

std::int64_t ParameterSlider::value() const {
  return values_[static_cast<std::size_t>(slider_->value())];
}

void ParameterSlider::show_value() {
  const QString text =
      value() == 0 && !zero_text_.isEmpty() ? zero_text_ : QString::number(value());
  label_->setText(text);
  slider_->setAccessibleDescription(text);
}

EnergySliders::EnergySliders(QWidget* parent) : QWidget(parent) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(18);
  grid_->setVerticalSpacing(3);
  grid_->setColumnStretch(0, 1);
  grid_->setColumnStretch(1, 1);
  add("energy_tokens", tr("Tokens"), tr("N, tokens of every network"), {}, token_stops(), 0,
      tr("own"));
  add("energy_bits", tr("Bits"), tr("b, bits of a hash code"), {"bits"}, every_whole(1, 64), 16);
  add("energy_supports", tr("Supports"), tr("m, support samples of kernelised hashing"),
      {"supports"}, every_whole(1, 128), 25);
  add("energy_window", tr("Window"),
      tr("Tokens a windowed, causal additive layer pools, and extent of DAFT's window"),
      {"window", "kernel"}, with_zero(logarithmic_stops(3, 1024, 3)), 0, tr("own"));
  add("energy_landmarks", tr("Landmarks"), tr("k, rows Linformer projects keys and values to"),
      {"landmarks"}, with_zero(logarithmic_stops(8, 2048, 4)), 0, tr("own"));
  add("energy_features", tr("Features"),
      tr("F, random features of Performer, LSH and binary codes"), {"features"},
      logarithmic_stops(8, 2048, 4), 256);
}

void EnergySliders::add(const char* object_name, const QString& name, const QString& tip,
                        std::vector<std::string> parameters, std::vector<std::int64_t> stops,
                        std::int64_t start, const QString& zero_text) {
  auto* slider = new ParameterSlider(object_name, name, tip, std::move(stops), start, zero_text);
  connect(slider, &ParameterSlider::changed, this, &EnergySliders::changed);
  entries_.push_back({std::move(parameters), slider});
  slider->setParent(this);
  slider->hide();
}

std::int64_t EnergySliders::tokens() const { return entries_.front().slider->value(); }

std::vector<std::string> EnergySliders::parameters() const {
  std::vector<std::string> list;
  for (const Entry& entry : entries_) {
    if (entry.slider->is_default()) continue;
    for (const std::string& name : entry.parameters) {
      list.push_back(name + "=" + std::to_string(entry.slider->value()));
      // Only causal layers have a window.
      if (name == "window") list.emplace_back("causal=true");
    }
  }
  return list;
}

void EnergySliders::show_for(const std::vector<std::string>& mechanisms, bool with_tokens) {
  int shown = 0;
  for (const Entry& entry : entries_) {
    grid_->removeWidget(entry.slider);
    const bool matters =
        entry.parameters.empty()
            ? with_tokens
            : std::any_of(mechanisms.begin(), mechanisms.end(), [&](const std::string& mechanism) {
                return std::any_of(
                    entry.parameters.begin(), entry.parameters.end(),
                    [&](const std::string& parameter) { return has(mechanism, parameter); });
              });
    entry.slider->setVisible(matters);
    if (!matters) continue;
    grid_->addWidget(entry.slider, shown / 2, shown % 2);
    ++shown;
  }
}

}  // namespace attnscope
