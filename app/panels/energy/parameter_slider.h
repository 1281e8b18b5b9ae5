// A named integer slider with its value next to it.
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
  /// `values` are the slider's stops, in ascending order. A first stop of 0 is shown as
  /// `zero_text`, unless that is empty. The slider starts at the stop nearest to `start`.
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

/// Integers evenly spaced on a logarithmic scale, about `per_octave` per doubling.
[[nodiscard]] std::vector<std::int64_t> logarithmic_stops(std::int64_t least, std::int64_t most,
                                                          int per_octave);

}  // namespace attnscope
