// Controls of the energy panel: drop-down lists of networks, mechanisms, accounting rules and
// energy tables, and sliders for the number of tokens N and the mechanism parameters.
#pragma once

#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <string>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QMenu;
class QSlider;
class QToolButton;

namespace attnscope {

class EnergyChoosers : public QWidget {
  Q_OBJECT
 public:
  explicit EnergyChoosers(QWidget* parent = nullptr);

  /// Name of the chosen architecture; empty: the open models.
  [[nodiscard]] std::string network() const;
  /// Mechanisms that each network is counted under; empty: its own.
  [[nodiscard]] const std::vector<std::string>& mechanisms() const { return mechanisms_; }
  [[nodiscard]] std::string convention() const;
  /// Name of a built-in table, or path of the user's own.
  [[nodiscard]] std::string constants() const;
  /// Index, from 1, of the network that all values are relative to; 0: absolute values.
  [[nodiscard]] int reference() const;

  void set_models_open(bool open);
  /// Sets the networks shown, in order. A pinned network stays pinned by name if it is still shown.
  void set_references(const QStringList& labels);
  /// Enables the lists that apply to the view shown.
  void show_lists(bool mechanisms, bool accounting, bool references);

 signals:
  void changed();

 protected:
  /// Keeps the menu of mechanisms open while several are ticked.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void choose_constants(int index);
  void take_mechanisms();

  QComboBox* network_;
  QToolButton* mechanism_button_;
  QMenu* mechanism_menu_;
  QComboBox* convention_;
  QComboBox* constants_;
  QComboBox* reference_;
  std::vector<std::string> mechanisms_;
  int last_constants_ = 0;
};

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

/// Only the relevant sliders are shown.
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
