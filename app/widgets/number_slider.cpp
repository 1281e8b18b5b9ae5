#include "app/widgets/number_slider.h"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <cmath>

namespace attnscope {

namespace {

constexpr int kPositions = 1000;
constexpr int kLeastSlider = 32, kLeastStackedSlider = 12;  // pixels

int decimals_of(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
}

}  // namespace

NumberSlider::NumberSlider(const QString& name, const SliderRange& range, double value,
                           QWidget* parent)
    : QWidget(parent), range_(range) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(6);
  auto* label = new QLabel(name);
  slider_ = new QSlider(Qt::Horizontal);
  slider_->setAccessibleName(name);
  slider_->setRange(0, kPositions);
  slider_->setMinimumWidth(kLeastSlider);
  field_ = new QDoubleSpinBox;
  field_->setAccessibleName(name);
  field_->setKeyboardTracking(false);
  label->setBuddy(field_);
  grid_->addWidget(label, 0, 0);
  grid_->addWidget(slider_, 0, 1);
  grid_->addWidget(field_, 0, 2);
  grid_->setColumnStretch(1, 1);
  show_range();
  set_value(value);
  connect(slider_, &QSlider::valueChanged, this,
          [this](int position) { field_->setValue(value_at(position)); });
  connect(field_, &QDoubleSpinBox::valueChanged, this, [this](double changed) {
    const QSignalBlocker quiet(slider_);
    slider_->setValue(position_of(changed));
    emit value_changed(changed);
  });
}

void NumberSlider::stack() {
  grid_->setVerticalSpacing(2);
  slider_->setMinimumWidth(kLeastStackedSlider);
  grid_->addWidget(grid_->itemAtPosition(0, 0)->widget(), 0, 0, 1, 3);
  grid_->addWidget(slider_, 1, 0, 1, 2);
  grid_->addWidget(field_, 1, 2);
}

void NumberSlider::hide_name() { grid_->itemAtPosition(0, 0)->widget()->hide(); }

double NumberSlider::value() const { return field_->value(); }

void NumberSlider::set_value(double value) {
  if (value != field_->value()) field_->setValue(value);  // Qt draws it again even if it is equal
  const QSignalBlocker quiet(slider_);
  slider_->setValue(position_of(field_->value()));
}

void NumberSlider::set_range(const SliderRange& range) {
  range_ = range;
  show_range();
  set_value(value());
}

void NumberSlider::show_range() {
  field_->setDecimals(decimals_of(range_.step));
  field_->setRange(range_.minimum, range_.maximum);
  field_->setSingleStep(range_.step);
}

int NumberSlider::position_of(double value) const {
  const double low = range_.minimum, high = range_.maximum;
  if (!(high > low)) return 0;
  const double fraction = range_.logarithmic ? std::log(value / low) / std::log(high / low)
                                             : (value - low) / (high - low);
  return static_cast<int>(std::lround(fraction * kPositions));
}

double NumberSlider::value_at(int position) const {
  const double low = range_.minimum, high = range_.maximum;
  const double fraction = static_cast<double>(position) / kPositions;
  const double value =
      range_.logarithmic ? low * std::pow(high / low, fraction) : low + fraction * (high - low);
  return std::clamp(low + std::round((value - low) / range_.step) * range_.step, low, high);
}

}  // namespace attnscope
