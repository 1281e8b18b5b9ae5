// Menu button that chooses the matrix of a spectrum, rank or component.
#pragma once

#include <QToolButton>
#include <string>

#include "analysis/matrix/matrix_kind.h"
#include "core/parameters/parameters.h"

class QAction;
class QActionGroup;

namespace attnscope {

/// A menu of the values of a figure's settings "of", "centred" and "added"; initially the unchanged
/// map. Further entries may be added to the menu.
class OfButton : public QToolButton {
  Q_OBJECT
 public:
  explicit OfButton(const std::string& figure, QWidget* parent = nullptr);

  [[nodiscard]] MatrixChoice analysed() const;
  /// Writes the choice to those settings.
  void set(ParameterValues& settings) const;
  /// True if the unchanged map is chosen.
  [[nodiscard]] bool is_map() const { return analysed().is_plain_map(); }

 signals:
  void another_chosen();

 private:
  void show_choice();
  [[nodiscard]] MatrixKind of() const;

  QActionGroup* of_;
  QActionGroup* added_;  ///< exclusive; may be unset
  QAction* centred_;
};

}  // namespace attnscope
