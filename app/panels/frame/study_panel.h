// Base of panels for long evaluations over a data set, whose result file grows during the work:
// fields, start and stop, progress, and views of the results so far.
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
  /// The figure of the view in front; null before the first.
  [[nodiscard]] const Figure* figure() const;

 protected:
  /// Names and texts of a study.
  struct Form {
    QString name;   ///< "sweep", as in the object names "sweep_start" and "sweep_note"
    QString title;  ///< "Sweep"
    QString about;  ///< the purpose; shown before the first result
    QString verb;   ///< text of the button: "Sweep"
    QString doing;  ///< name of the job: "Sweeping"
    QString data_hint, result_hint;
    QString data = {};  ///< data set that is proposed
    QString file_name;  ///< proposed file name: "sweep.h5"
    int count = 0, count_step = 1;
  };
  /// A figure of the result file; `settings` are added to the file's name.
  struct View {
    QString name, tip;
    std::string recipe;
    ParameterValues settings = {};
  };
  /// Runs on a job's thread; calls `grown` when the file has grown. Returns the final note.
  using Work = std::function<QString(const Progress& progress, const std::function<void()>& grown)>;

  StudyPanel(Session& session, const Form& form, const std::vector<View>& views, QWidget* parent);

  /// Adds a control above the number of inputs.
  void add_option(QWidget* option);
  /// The work for the current fields; empty, after show_note() with the reason, if it cannot start.
  [[nodiscard]] virtual std::optional<Work> work() = 0;
  /// The result file; empty until the user has chosen one.
  [[nodiscard]] virtual std::filesystem::path out() const { return chosen_result(); }

  [[nodiscard]] Session& session() const { return session_; }
  [[nodiscard]] std::filesystem::path chosen_data() const;
  [[nodiscard]] std::filesystem::path chosen_result() const;
  [[nodiscard]] std::int64_t chosen_count() const;
  [[nodiscard]] bool starts_over() const;
  /// Asks the user for a data set if none is chosen yet; false if it stays unset.
  [[nodiscard]] bool ask_for_data();
  /// Shows a note below the fields.
  void show_note(const QString& note);

 private:
  void make_fields();
  void add_views(const std::vector<View>& views);
  void browse_result();
  void start_or_stop();
  void start();
  void ended(const QString& note);
  void show_progress();
  /// Draws the file on disk, complete or partial.
  void refresh();
  [[nodiscard]] std::filesystem::path shown_file() const;

  Session& session_;
  Form form_;
  QLineEdit* data_;
  QLineEdit* result_;
  BrowseButton* browse_data_;
  QSpinBox* count_;
  QCheckBox* start_over_;
  QPushButton* button_;
  QHBoxLayout* options_;
  ProgressLine* progress_;
  QLabel* note_;
  QStackedWidget* pages_;
  JobId job_ = 0;
};

}  // namespace attnscope
