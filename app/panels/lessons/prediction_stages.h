// The parts of a lesson's page that wait for predictions: what follows a prediction is hidden until
// it is kept, and the next part until what was seen has been set next to it.
#pragma once

#include <QObject>
#include <string>
#include <vector>

#include "app/panels/lessons/predictions/prediction.h"

class QMainWindow;
class QVBoxLayout;
class QWidget;

namespace attnscope {

struct LessonAnswers;
struct LessonBlock;
class SeenCard;
class Session;
class SpectrumStore;

class PredictionStages : public QObject {
  Q_OBJECT
 public:
  /// Fills `page`, whose layout is `column`. `answers` fits the lesson and outlives the page.
  PredictionStages(Session& session, const SpectrumStore& spectra, LessonAnswers& answers,
                   QVBoxLayout& column, QWidget* page);

  /// Layout of the next block of the page.
  [[nodiscard]] QVBoxLayout& column() { return *column_; }
  /// `question` shows the block's title.
  void add_prediction(const LessonBlock& block, QWidget* question);
  /// Throws Error(damaged) naming the line if the prediction needs a reading that neither the
  /// window nor an experiment since has.
  void add_seen(const LessonBlock& block, QWidget* why);
  /// An experiment of the present part, by its name in experiments().
  void add_experiment(const std::string& name, QWidget* experiment);

 signals:
  /// A part of the page was shown.
  void shown(QWidget* part);

 private:
  struct Stage {
    int line = 0;  ///< the prediction's line in the file
    std::vector<PredictionField> fields;
    std::vector<QWidget*> experiments;
    std::vector<std::string> names;     ///< names of the experiments
    std::vector<std::string> pictures;  ///< parts of the window
    SeenCard* card = nullptr;
  };
  QWidget* begin_part(bool shown);
  void compare(std::size_t index);
  [[nodiscard]] std::string value_of(const Stage& stage, const std::string& reading) const;
  [[nodiscard]] std::string selected_rank(bool with_identity) const;
  [[nodiscard]] std::string mean_ranks() const;
  /// Label and mean rank of the open model whose mean rank is at `place` from the highest, from 0.
  [[nodiscard]] std::string ranked_model(std::ptrdiff_t place) const;
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::vector<std::string> pictures_of(const Stage& stage) const;
  [[nodiscard]] QMainWindow* main_window() const;

  Session& session_;
  const SpectrumStore& spectra_;
  LessonAnswers& answers_;
  QWidget* page_;
  QVBoxLayout *whole_, *column_;
  std::vector<Stage> stages_;
};

}  // namespace attnscope
