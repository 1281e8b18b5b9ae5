// The selected query's row of the selected map, for every model: over the input, and as a curve.
// Also the column of the selected token, the mean over distances, the rollout, the cosine of the
// token with all others, and the principal components of the patches as colours.
#pragma once

#include <QColor>
#include <QTimer>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/canvas/shown_maps.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"
#include "core/trace/trace.h"

class QComboBox;
class QCustomPlot;
class QHBoxLayout;
class QLabel;
class QSlider;
class QToolButton;

namespace attnscope {

class AtlasLink;
class ElidedLabel;
class PlotInstrument;
class QueryView;
class ScaleBar;
class Session;
struct ColourScale;
struct Figure;
struct OpenSubject;

class RowPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Row on the input");

  RowPanel(Session& session, AtlasLink& atlases, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override { return is_seen() && delay_.isActive(); }
  void come_to_front() override;
  /// "query": over the input; "profile": as a curve; "cosine": likeness of tokens over the input;
  /// "colours": principal components of the patches.
  bool show_page(const std::string& page) override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  enum class Shown { row, column, distance, rollout, cosine, colours };
  void add_header();
  void add_rolled();
  void add_pictures();
  void add_curve();
  [[nodiscard]] Shown shown() const;
  void refresh();
  /// Shows the pictures, the curve, or both if there is space.
  void divide();
  void add_view();
  void draw_curve();
  /// Shows the statistics of the selected map, unless they are those already shown.
  void show_values();

  /// The cell of the selected query and of the same token as key in the maps of a model; −1 where
  /// it has no such token. nullopt if the model does not have the selected map.
  [[nodiscard]] std::optional<MapCell> selected_cell(const OpenSubject& open) const;
  /// One weight per token of `layout_of`; NaN for tokens that are hidden.
  [[nodiscard]] std::vector<float> weights_of(const OpenSubject& open);
  [[nodiscard]] std::vector<float> rolled_out(const OpenSubject& open);
  /// Cosines of the selected token with all tokens after the selected layer.
  [[nodiscard]] std::vector<float> cosines(const OpenSubject& open) const;
  /// Positions of the tokens that have weights.
  [[nodiscard]] const TokenLayout& layout_of(const Trace& trace) const;
  void want_rollout(const OpenSubject& open);
  /// Keeps the reason why a job failed with what current() gives, the entry of the job or null.
  template <class Current>
  [[nodiscard]] auto failed(const Current& current);
  /// Computes the colours of the patches after the selected layer, unless they are known.
  void want_colours(const OpenSubject& open);
  [[nodiscard]] QString caption(const std::vector<const OpenSubject*>& ready) const;
  [[nodiscard]] ColourScale scale_of(double least, double largest) const;
  [[nodiscard]] QString why_no_cosine(const std::vector<const OpenSubject*>& ready) const;
  [[nodiscard]] QString why_no_colours(const std::vector<const OpenSubject*>& ready) const;
  [[nodiscard]] QString why_no_rollout(const std::vector<const OpenSubject*>& ready) const;

  struct Rollout {
    std::shared_ptr<const Trace> trace;
    std::string by;              ///< name of the matrix rolled out, as in rolled_
    std::vector<float> weights;  ///< N × N; empty while it is computed
    QString error;               ///< reason for missing weights
    std::int64_t job = 0;
  };

  /// Patches after a layer, coloured by their principal components.
  struct Coloured {
    std::shared_ptr<const Trace> trace;
    std::int64_t layer = -1;
    std::vector<QColor> colours;  ///< one per token; invalid for one that is no patch
    std::array<double, 3> share = {};
    QString error;  ///< reason for missing colours
    std::int64_t job = 0;
  };

  /// A map whose statistics are shown.
  struct ValuesOf {
    std::shared_ptr<const ShownMaps> maps;
    std::int64_t layer = 0, column = 0;
    bool operator==(const ValuesOf&) const = default;
  };

  Session& session_;
  AtlasLink& atlases_;
  std::vector<QToolButton*> choices_;  ///< in the order of Shown
  QComboBox* rolled_;                  ///< choice of the matrix that is rolled out
  QLabel* caption_;
  QWidget* pictures_;
  QHBoxLayout* views_row_;
  ScaleBar* scale_;
  QSlider* opacity_;
  QToolButton* as_curve_;
  QCustomPlot* plot_;
  PlotInstrument* instrument_;
  ElidedLabel* values_;
  std::vector<ValuesOf> values_of_;
  QTimer delay_;
  std::shared_ptr<const Figure> figure_;
  std::vector<QueryView*> views_;
  std::map<SubjectId, Rollout> rollouts_;
  std::map<SubjectId, Coloured> coloured_;
};

}  // namespace attnscope
