// Rows of the networks that are trained side by side: attention mechanism, arithmetic of the linear
// layers, and progress.
#pragma once

#include <QWidget>
#include <vector>

#include "app/session/training_session.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QToolButton;

namespace attnscope {

class ElidedLabel;
class Session;
class SubjectBadge;

class VariantRows : public QWidget {
  Q_OBJECT
 public:
  explicit VariantRows(QWidget* parent = nullptr);

  /// `variants` has at least one and at most kMostVariants entries. Recipe keys that have no
  /// control here stay as they are.
  void set_variants(const std::vector<PresetVariant>& variants);
  [[nodiscard]] std::vector<PresetVariant> variants() const;
  /// Shows the progress of running trainings instead of the choices; empty `runs` show the choices
  /// again.
  void show_runs(const Session& session, const std::vector<TrainingSession::Run>& runs);

 signals:
  void changed();  ///< emitted for changes by the user
  void in_step_toggled(bool on);

 private:
  struct Row {
    SubjectBadge* badge;
    QComboBox* mechanism;
    QComboBox* arithmetic;
    QToolButton* remove;
    ElidedLabel* state;
    ParameterValues recipe;  ///< with the attention and arithmetic that the row began with
  };
  /// `width`: text after the names of mechanisms, which tells heads of different widths apart.
  void add_row(const PresetVariant& variant, const std::string& width);
  void place();

  std::vector<Row> rows_;
  QGridLayout* grid_;
  QWidget* below_;  ///< the line under the rows
  QToolButton* more_;
  QCheckBox* in_step_;  ///< shown if there are several networks
};

}  // namespace attnscope
