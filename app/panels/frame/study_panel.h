// A long question put to a data set, whose answer is a file that grows while it is worked on: the
// fields, start and stop, progress, and views of what is there so far.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/job_queue.h"

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QStackedWidget;
class QWidget;

namespace attnscope {

class BrowseButton;
class ProgressLine;
class Session;

class StudyPanel : public DockPanel {
  Q_OBJECT
 public:
  [[nodiscard]] bool is_behind() const override;
  /// What the view in front shows; null before the first.
  [[nodiscard]] const Figure* figure() const;

 protected:
  /// What it is called: in the names of its widgets, and in words.
  struct Form {
    QString name;   ///< "sweep": of "sweep_start", "sweep_note"
    QString title;  ///< "Sweep"
    QString about;  ///< what it answers; shown before the first answer
    QString verb;   ///< on the button: "Sweep"
    QString doing;  ///< of the job: "Sweeping"
    QString data_hint, result_hint;
    QString file_name;  ///< proposed: "sweep.h5"
    int count = 0, count_step = 1;
  };
  /// A figure of the file; `settings` beside the file's name.
  struct View {
    QString name, tip;
    std::string recipe;
    ParameterValues settings = {};
  };
  /// Works on a job's thread; calls `grown` when there is more in the file. Returns what to say.
  using Work = std::function<QString(const Progress& progress, const std::function<void()>& grown)>;

  StudyPanel(Session& session, const Form& form, const std::vector<View>& views, QWidget* parent);

  /// A control of its own, above the number of inputs.
  void add_option(QWidget* option);
  /// What is to be done with what the fields say; none, having said() why, where nothing can be.
  [[nodiscard]] virtual std::optional<Work> work() = 0;
  /// Where the answer goes; empty while the user has not said.
  [[nodiscard]] virtual std::filesystem::path out() const { return chosen_result(); }

  [[nodiscard]] Session& session() const { return session_; }
  [[nodiscard]] std::filesystem::path chosen_data() const;
  [[nodiscard]] std::filesystem::path chosen_result() const;
  [[nodiscard]] std::int64_t chosen_count() const;
  [[nodiscard]] bool begins_anew() const;
  /// Has the user choose what is not chosen yet; false if nothing is after that.
  [[nodiscard]] bool ask_for_data();
  [[nodiscard]] bool ask_for_result();
  /// Shows a line below the fields.
  void say(const QString& note);

 private:
  void make_fields();
  void add_views(const std::vector<View>& views);
  void browse_result();
  void start_or_stop();
  void start();
  void ended(const QString& note);
  void show_progress();
  /// Draws what is on disk: finished, or as far as it is.
  void refresh();
  [[nodiscard]] std::filesystem::path shown_file() const;

  Session& session_;
  Form form_;
  QLineEdit* data_;
  QLineEdit* result_;
  BrowseButton* browse_data_;
  QSpinBox* count_;
  QCheckBox* anew_;
  QPushButton* button_;
  QHBoxLayout* options_;
  ProgressLine* progress_;
  QLabel* note_;
  QStackedWidget* pages_;
  JobId job_ = 0;
};

}  // namespace attnscope
