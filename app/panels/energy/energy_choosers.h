// Drop-down lists of the energy panel: networks, mechanisms, accounting rules and energy tables.
#pragma once

#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

class QComboBox;
class QMenu;
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

}  // namespace attnscope
