#include "app/panels/energy/parameter_slider.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSlider>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

ParameterSlider::ParameterSlider(const QString& name, const QString& tip,
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
  slider_->setObjectName("slider_" + name);
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

}  // namespace attnscope
