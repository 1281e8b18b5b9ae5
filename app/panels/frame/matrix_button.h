// The menu that chooses the analysed matrix for the whole window.
#pragma once

#include <QToolButton>

class QAction;
class QActionGroup;

namespace attnscope {

class Session;

/// Shows and sets ViewSettings::matrix: the matrix that spectra, ranks, components and comparisons
/// are of.
class MatrixButton : public QToolButton {
  Q_OBJECT
 public:
  explicit MatrixButton(Session& session, QWidget* parent = nullptr);

  /// Shows the matrix in a word: "map" instead of "Analyse: attention map".
  void set_short(bool is_short);

 private:
  void choose();
  void refresh();

  Session& session_;
  QActionGroup* of_;
  QActionGroup* added_;  ///< exclusive; may be unset
  QAction* centred_;
  bool is_short_ = false;
};

}  // namespace attnscope
