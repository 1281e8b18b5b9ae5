// Says what a spectrum, a rank or components are of.
#pragma once

#include <QToolButton>
#include <string>

#include "analysis/analysed/what.h"
#include "core/parameters/parameters.h"

class QAction;
class QActionGroup;

namespace attnscope {

/// A menu of what a figure's settings "of", "centred" and "added" can be; the map as it is at
/// first. More may be added to the menu.
class OfButton : public QToolButton {
  Q_OBJECT
 public:
  explicit OfButton(const std::string& figure, QWidget* parent = nullptr);

  [[nodiscard]] Analysed analysed() const;
  /// The same as those settings.
  void set(ParameterValues& settings) const;
  /// The map as it is.
  [[nodiscard]] bool is_map() const { return analysed() == Analysed{}; }

 signals:
  void another_chosen();

 private:
  void show_choice();
  [[nodiscard]] SpectrumOf of() const;

  QActionGroup* of_;
  QActionGroup* added_;  ///< one of them, or none
  QAction* centred_;
};

}  // namespace attnscope
