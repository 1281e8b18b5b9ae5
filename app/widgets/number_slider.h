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
  double step = 0.01;        ///< values are minimum + n · step
  bool logarithmic = false;  ///< spacing of the slider; needs a positive minimum
};

class NumberSlider : public QWidget {
  Q_OBJECT
 public:
  /// `name` is the label, and the accessible name of slider and field.
  NumberSlider(const QString& name, const SliderRange& range, double value,
               QWidget* parent = nullptr);

  [[nodiscard]] double value() const;
  [[nodiscard]] const SliderRange& range() const { return range_; }
  /// Sets the nearest value in the range.
  void set_value(double value);
  void set_range(const SliderRange& range);
  /// Puts the slider below its name instead of next to it, for several in one row.
  void stack();
  /// Leaves out the name, for forms that have a label of their own.
  void hide_name();
  [[nodiscard]] QDoubleSpinBox& field() const { return *field_; }

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
