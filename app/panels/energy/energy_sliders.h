// N and the parameters of mechanisms on sliders; only those that matter are there.
#pragma once

#include <QWidget>
#include <cstdint>
#include <string>
#include <vector>

class QGridLayout;

namespace attnscope {

class ParameterSlider;

class EnergySliders : public QWidget {
  Q_OBJECT
 public:
  explicit EnergySliders(QWidget* parent = nullptr);

  /// 0: each network's own.
  [[nodiscard]] std::int64_t tokens() const;
  /// "bits=8", "landmarks=64": what was moved.
  [[nodiscard]] std::vector<std::string> parameters() const;
  /// Shows N if asked, and the parameters any of these mechanisms has.
  void show_for(const std::vector<std::string>& mechanisms, bool with_tokens);

 signals:
  void changed();

 private:
  struct Entry {
    std::vector<std::string> parameters;  ///< that it sets; none: N
    ParameterSlider* slider;
  };
  void add(const QString& name, const QString& tip, std::vector<std::string> parameters,
           std::vector<std::int64_t> stops, std::int64_t start, const QString& zero_text = {});

  std::vector<Entry> entries_;
  QGridLayout* grid_;
};

}  // namespace attnscope
