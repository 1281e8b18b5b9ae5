// Steps of lessons: lines of commands that set what is open, selected and shown.
//
//   close                                  closes all models; one undo restores them
//   open fashion-softmax                   opens a sample model or a file, if not yet open
//   input 09_ankle_boot.png                opens a sample input or a locator
//   overlay 1 adder identity=true          a mechanism on model 1's weights, as a new model
//   select model=1 layer=3 head=0 query=0
//   view identity=with threshold=0.95 share=energy temperature=2 heads=mean
//   plain                                  the usual view: whole maps, equivalent rank at 0.9
//   panel spectrum spectrum_this_map=on    brings a panel to the front, and sets its controls
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/subject_id.h"
#include "app/widgets/control_values.h"

namespace attnscope {

class LessonLoan;
class Session;

struct StepCommand {
  std::string name;
  std::vector<std::string> words;             ///< "fashion-softmax"
  std::map<std::string, std::string> values;  ///< "layer" → "3"
};

/// Throws Error(damaged) naming the line: an unknown command (listing the known ones), an unknown
/// key, or too few words.
[[nodiscard]] std::vector<StepCommand> parse_step(std::string_view commands);

/// The file of a sample model or input by name; `name` itself if there is no such sample.
[[nodiscard]] std::filesystem::path sample_file(std::string_view folder, const std::string& name);

/// Runs steps on the window's thread. A command waits until the jobs of earlier ones have ended.
class StepRunner : public QObject {
  Q_OBJECT
 public:
  /// `loan` saves the state before the first step.
  StepRunner(Session& session, LessonLoan& loan, QObject* parent = nullptr);

  /// Queues a step after those that are still running.
  void run(std::string_view commands);
  [[nodiscard]] bool idle() const { return waiting_.empty(); }
  /// Drops the commands that have not run yet.
  void stop() { waiting_.clear(); }

 signals:
  void panel_wanted(const QString& name);
  /// Requests these values of the controls of a panel, which panel_wanted has named just before.
  void controls_wanted(const QString& panel, const ControlValues& values);
  /// The step has changed these parts of the window (Highlight::show_parts); precedes finished().
  void changed(const QStringList& parts);
  /// All commands have run; `error` describes a failure and is empty on success.
  void finished(const QString& error);

 private:
  void resume();
  void run(const StepCommand& command);
  void note_changes(const StepCommand& command);
  [[nodiscard]] QStringList changed_parts() const;

  Session& session_;
  LessonLoan& loan_;
  std::deque<StepCommand> waiting_;
  QStringList changed_;            ///< parts changed by the commands that have run
  std::vector<SubjectId> opened_;  ///< models that they opened
};

}  // namespace attnscope
