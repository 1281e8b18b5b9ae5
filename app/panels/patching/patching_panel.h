// Two inputs against each other: the selected model runs on its input with one part at a time of
// its run on another, and the effect on the answer fills a heat map as it is computed.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "analysis/intervention/patching.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/job_queue.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace attnscope {

class PatchGrid;
class ProgressLine;
class ScaleBar;
class Session;
struct OpenSubject;

class PatchingPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Patch from another input");

  explicit PatchingPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override { return job_ != 0 || joint_job_ != 0; }

 private:
  /// The run that a table belongs to; another one makes it stale.
  struct Source {
    std::shared_ptr<const Model> model;
    MechanismChoice mechanism;
    std::shared_ptr<const Input> input;
    bool operator==(const Source&) const = default;
  };

  void add_fields();
  void add_results();
  [[nodiscard]] const OpenSubject* selected() const;
  [[nodiscard]] Source source() const;
  void refresh();
  void start_or_stop();
  void start();
  /// Cancels the work and removes its results.
  void clear(const QString& note);
  void begin(std::shared_ptr<const Patching> patching);
  void take(const std::vector<std::pair<std::size_t, double>>& found);
  void ended(const QString& note);
  void choose(int row, int column);
  void patch_painted();
  [[nodiscard]] std::pair<int, int> cell_of(const PatchPlace& place) const;
  [[nodiscard]] PatchPlace place_at(int row, int column) const;
  [[nodiscard]] PatchRequest request() const;
  /// Requests the dialog that exports the table as the figure "patching".
  void want_export();
  /// The locator of the other input: a text as it is typed, or a file.
  [[nodiscard]] std::string other_locator() const;

  Session& session_;
  QLineEdit *from_, *answer_, *against_, *to_;
  QComboBox* of_;
  QPushButton* button_;
  QToolButton* export_;
  ProgressLine* progress_;
  QLabel *note_, *joint_;
  PatchGrid* grid_;
  ScaleBar* scale_;
  std::shared_ptr<const Patching> patching_;
  Source source_;
  JobId job_ = 0, joint_job_ = 0;
  std::int64_t round_ = 0;  ///< counts the tables: results of an earlier one are dropped
};

}  // namespace attnscope
