// A named whole number on a slider, its value beside it.
#pragma once

#include <QWidget>
#include <cstdint>
#include <vector>

class QLabel;
class QSlider;

namespace attnscope {

class ParameterSlider : public QWidget {
  Q_OBJECT
 public:
  /// `values` are the slider's stops, ascending. A first stop of 0 is shown as `zero_text`, unless
  /// that is empty. Starts at the stop nearest to `start`.
  ParameterSlider(const QString& name, const QString& tip, std::vector<std::int64_t> values,
                  std::int64_t start, const QString& zero_text = {}, QWidget* parent = nullptr);

  [[nodiscard]] std::int64_t value() const;
  [[nodiscard]] bool is_default() const { return value() == start_; }

 signals:
  void changed();

 private:
  void show_value();

  std::vector<std::int64_t> values_;
  std::int64_t start_;
  QString zero_text_;
  QSlider* slider_;
  QLabel* label_;
};

/// Whole numbers about evenly spaced on a logarithmic scale: `per_octave` a doubling.
[[nodiscard]] std::vector<std::int64_t> logarithmic_stops(std::int64_t least, std::int64_t most,
                                                          int per_octave);

}  // namespace attnscope
