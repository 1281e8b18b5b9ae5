// Sliders for the number of tokens N and the mechanism parameters; only relevant ones are shown.
#pragma once

#include <QWidget>
#include <cstdint>
#include <string>
#include <vector>

class QGridLayout;
class QLabel;
class QSlider;

namespace attnscope {

/// A named integer slider with its value next to it.
class ParameterSlider : public QWidget {
  Q_OBJECT
 public:
  /// `object_name` is the slider's. `values` are its stops, in ascending order. A first stop of 0
  /// is shown as `zero_text`, unless that is empty. The slider starts at the stop nearest to
  /// `start`.
  ParameterSlider(const char* object_name, const QString& name, const QString& tip,
                  std::vector<std::int64_t> values, std::int64_t start,
                  const QString& zero_text = {}, QWidget* parent = nullptr);

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

class EnergySliders : public QWidget {
  Q_OBJECT
 public:
  explicit EnergySliders(QWidget* parent = nullptr);

  /// Number of tokens; 0: each network's own.
  [[nodiscard]] std::int64_t tokens() const;
  /// Changed parameters such as "bits=8", "landmarks=64".
  [[nodiscard]] std::vector<std::string> parameters() const;
  /// Shows the parameters of these mechanisms, and N if `with_tokens`.
  void show_for(const std::vector<std::string>& mechanisms, bool with_tokens);

 signals:
  void changed();

 private:
  struct Entry {
    std::vector<std::string> parameters;  ///< parameters that it sets; empty: N
    ParameterSlider* slider;
  };
  void add(const char* object_name, const QString& name, const QString& tip,
           std::vector<std::string> parameters, std::vector<std::int64_t> stops, std::int64_t start,
           const QString& zero_text = {});

  std::vector<Entry> entries_;
  QGridLayout* grid_;
};

}  // namespace attnscope
