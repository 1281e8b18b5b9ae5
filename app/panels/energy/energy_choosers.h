// What the energy panel counts and by whose rules: drop-down lists over its figure.
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

  /// A named architecture; empty: the models that are open.
  [[nodiscard]] std::string network() const;
  /// Under which each network is counted; empty: its own.
  [[nodiscard]] const std::vector<std::string>& mechanisms() const { return mechanisms_; }
  [[nodiscard]] std::string convention() const;
  /// A table's name, or the path of the user's own.
  [[nodiscard]] std::string constants() const;
  /// What all are relative to, counted from 1; 0: nothing.
  [[nodiscard]] int reference() const;

  void set_models_open(bool open);
  /// The networks shown, in order. What was pinned stays pinned by its name, if it is still shown.
  void set_references(const QStringList& labels);
  /// Which lists matter to the view shown.
  void show_lists(bool mechanisms, bool accounting, bool references);

 signals:
  void changed();

 protected:
  /// Keeps the list of mechanisms open while several are ticked.
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
