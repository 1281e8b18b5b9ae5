// Cards on a lesson's page: one asks for a prediction, one sets it next to what was seen.
#pragma once

#include <QFrame>
#include <string>
#include <vector>

#include "app/panels/lessons/predictions/prediction.h"

class QPushButton;
class QVBoxLayout;

namespace attnscope {

struct PredictionAnswer;
class WrappedLabel;

/// Asks for a prediction. What is entered goes to `answer` at once; with Keep, choices and numbers
/// can no longer be changed, and words can.
class PredictionCard : public QFrame {
  Q_OBJECT
 public:
  /// `number` counts the predictions of a lesson from 1; `answer`, which has one entry per field,
  /// must outlive the card.
  PredictionCard(int number, QWidget* question, std::vector<PredictionField> fields,
                 PredictionAnswer& answer);

 signals:
  /// The prediction was kept or skipped.
  void kept();

 private:
  [[nodiscard]] QWidget* editor_of(std::size_t field);
  void take(std::size_t field, const QString& said);
  void keep();
  void refresh();

  int number_;
  std::vector<PredictionField> fields_;
  PredictionAnswer& answer_;
  std::vector<QWidget*> editors_;
  QPushButton *keep_, *skip_;
  WrappedLabel* state_ = nullptr;
};

/// Sets the prediction next to what was seen, and shows why.
class SeenCard : public QFrame {
  Q_OBJECT
 public:
  /// `why` is shown once `answer` has been compared.
  SeenCard(int number, std::vector<PredictionField> fields, const PredictionAnswer& answer,
           QWidget* why);
  /// Shows the answer's present content.
  void refresh();

 signals:
  /// Requests what was seen to be read into the answer.
  void compare_wanted();

 private:
  std::vector<PredictionField> fields_;
  const PredictionAnswer& answer_;
  QWidget* why_;
  WrappedLabel* table_;
  QPushButton* compare_;
};

}  // namespace attnscope
