// The networks that are to learn side by side, a row each: how they attend, what their linear
// layers compute, and how far each is.
#pragma once

#include <QWidget>
#include <vector>

#include "app/session/training_session.h"

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

  /// At least one, at most kMostVariants. What else their recipes say is that of the first.
  void set_variants(const std::vector<PresetVariant>& variants);
  [[nodiscard]] std::vector<PresetVariant> variants() const;
  /// While they learn: how far they are, instead of what can be chosen; none: they do not.
  void show_runs(const Session& session, const std::vector<TrainingSession::Run>& runs);

 signals:
  void changed();  ///< by the user

 private:
  struct Row {
    SubjectBadge* badge;
    QComboBox* mechanism;
    QComboBox* arithmetic;
    QToolButton* remove;
    ElidedLabel* state;
  };
  void add_row(const PresetVariant& variant);
  void place();

  std::vector<Row> rows_;
  ParameterValues shared_;
  QGridLayout* grid_;
  QToolButton* more_;
};

}  // namespace attnscope
