#include "app/panels/energy/energy_sliders.h"

#include <QGridLayout>
#include <algorithm>
#include <utility>

#include "app/panels/energy/parameter_slider.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

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

EnergySliders::EnergySliders(QWidget* parent) : QWidget(parent) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(18);
  grid_->setVerticalSpacing(3);
  grid_->setColumnStretch(0, 1);
  grid_->setColumnStretch(1, 1);
  add(tr("Tokens"), tr("N, tokens of every network"), {}, token_stops(), 0, tr("own"));
  add(tr("Bits"), tr("b, bits of a hash code"), {"bits"}, every_whole(1, 64), 16);
  add(tr("Supports"), tr("m, support samples of kernelised hashing"), {"supports"},
      every_whole(1, 128), 25);
  add(tr("Window"),
      tr("Tokens a windowed, causal additive layer pools, and extent of DAFT's window"),
      {"window", "kernel"}, with_zero(logarithmic_stops(3, 1024, 3)), 0, tr("own"));
  add(tr("Landmarks"), tr("k, rows Linformer projects keys and values to"), {"landmarks"},
      with_zero(logarithmic_stops(8, 2048, 4)), 0, tr("own"));
  add(tr("Features"), tr("F, random features of Performer, LSH and binary codes"), {"features"},
      logarithmic_stops(8, 2048, 4), 256);
}

void EnergySliders::add(const QString& name, const QString& tip,
                        std::vector<std::string> parameters, std::vector<std::int64_t> stops,
                        std::int64_t start, const QString& zero_text) {
  auto* slider = new ParameterSlider(name, tip, std::move(stops), start, zero_text);
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
