// A named number: a slider to move it, a field to type it.
#pragma once

#include <QString>
#include <QWidget>

class QDoubleSpinBox;
class QGridLayout;
class QSlider;

namespace attnscope {

struct SliderRange {
  double minimum = 0, maximum = 1;
  double step = 0.01;        ///< values are minimum + whole multiples of it
  bool logarithmic = false;  ///< the slider's way, from a positive minimum
};

class NumberSlider : public QWidget {
  Q_OBJECT
 public:
  /// `name` is the label, and the accessible name of slider and field.
  NumberSlider(const QString& name, const SliderRange& range, double value,
               QWidget* parent = nullptr);

  [[nodiscard]] double value() const;
  [[nodiscard]] const SliderRange& range() const { return range_; }
  /// The nearest value of the range.
  void set_value(double value);
  void set_range(const SliderRange& range);
  /// The slider under its name, not beside it: where several stand in one row.
  void stack();

 signals:
  void value_changed(double value);

 private:
  [[nodiscard]] int position_of(double value) const;
  [[nodiscard]] double value_at(int position) const;
  void show_range();

  SliderRange range_;
  QGridLayout* grid_;
  QSlider* slider_;
  QDoubleSpinBox* field_;
};

}  // namespace attnscope
