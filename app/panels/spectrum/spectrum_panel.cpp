#include "app/panels/spectrum/spectrum_panel.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <qcustomplot.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/figure/figure.h"
#include "analysis/figure/series_style.h"
#include "app/canvas/atlas_link.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

// Faint curves behind a spectrum that show it before a change, or with the other setting of I.

/// Suffix of the name of an unchanged model next to one whose maps are changed.
constexpr const char* kAsItIs = " as it is";

constexpr int kFaint = 90, kFaintBand = 18;

/// The model that a mark belongs to; empty if it belongs to none.
std::string subject_of(const Keys& keys) {
  for (const auto& [name, value] : keys) {
    if (name == "model") return value;
  }
  return {};
}

void make_faint(Mark& mark) {
  if (auto* const line = std::get_if<Line>(&mark)) line->colour = with_alpha(line->colour, kFaint);
  if (auto* const point = std::get_if<PointMark>(&mark)) {
    point->colour = with_alpha(point->colour, kFaint);
  }
  if (auto* const rule = std::get_if<Rule>(&mark)) rule->colour = with_alpha(rule->colour, kFaint);
  if (auto* const band = std::get_if<Band>(&mark)) {
    band->colour = with_alpha(band->colour, kFaintBand);
  }
}

bool is_ghost(const Keys& keys) { return subject_of(keys).find(kAsItIs) != std::string::npos; }

/// Fades the curves of a cumulative spectrum with and without I that `view` does not show. With
/// IdentityView::as_is all stay.
void fade_other_view(Figure& figure, IdentityView view) {
  if (view == IdentityView::as_is) return;
  const LineStyle shown = view == IdentityView::with ? LineStyle::dashed : LineStyle::solid;
  for (Panel& panel : figure.panels) {
    bool fades = false;
    for (Mark& mark : panel.marks) {
      if (const auto* const line = std::get_if<Line>(&mark)) {
        const bool of_subject = !subject_of(line->keys).empty();
        fades = of_subject && line->style != shown;
        if (fades) make_faint(mark);
      } else if (fades && std::holds_alternative<PointMark>(mark)) {
        make_faint(mark);
      }
    }
  }
}

/// Makes the legend short where it would take the plot's height: curves with I share one entry, and
/// three models or more have the numbers that they have in the window.
void shorten_legend(Figure& figure, const std::map<std::string, std::string>& numbers) {
  for (Panel& panel : figure.panels) {
    std::vector<Line*> dashed, solid;
    for (Mark& mark : panel.marks) {
      auto* const line = std::get_if<Line>(&mark);
      if (line == nullptr || line->label.empty() || subject_of(line->keys).empty()) continue;
      (line->style == LineStyle::dashed ? dashed : solid).push_back(line);
    }
    if (numbers.size() < 2 || solid.size() != dashed.size()) continue;
    const auto rename = [](Line& line, const std::string& label) {
      if (line.name.empty()) line.name = line.label;
      line.label = label;
    };
    for (Line* const line : dashed) rename(*line, line == dashed.front() ? "dashed: with I" : "");
    constexpr std::size_t kManyModels = 3;
    if (numbers.size() < kManyModels) continue;
    for (Line* const line : solid) {
      const auto number = numbers.find(subject_of(line->keys));
      if (number != numbers.end()) rename(*line, number->second);
    }
  }
}

/// Lays the curves of `before` behind `figure`, faint and dotted, for models whose name contains
/// kAsItIs.
void add_ghosts(Figure& figure, const Figure& before) {
  if (figure.panels.size() != before.panels.size()) return;
  for (std::size_t index = 0; index < figure.panels.size(); ++index) {
    std::vector<Mark> ghosts;
    bool explained = false;
    for (const Mark& mark : before.panels[index].marks) {
      if (const auto* const line = std::get_if<Line>(&mark)) {
        if (!is_ghost(line->keys)) continue;
        Line ghost = *line;
        ghost.style = LineStyle::dotted;
        ghost.width_pt *= 1.4;
        // All ghosts share one legend entry.
        ghost.name = ghost.label;
        ghost.label = explained ? "" : "as it is";
        explained = true;
        ghosts.emplace_back(std::move(ghost));
      } else if (const auto* const point = std::get_if<PointMark>(&mark)) {
        if (!is_ghost(point->keys)) continue;
        ghosts.emplace_back(*point);
      } else {
        continue;
      }
      make_faint(ghosts.back());
    }
    auto& marks = figure.panels[index].marks;
    marks.insert(marks.begin(), ghosts.begin(), ghosts.end());
  }
}

}  // namespace

SpectrumPanel::SpectrumPanel(Session& session, SpectrumStore& spectra, AtlasLink& atlases,
                             QWidget* parent)
    : FigurePanel(tr(kTitle), "cumulative-spectrum", session, parent), spectra_(spectra) {
  set_short_title(tr("Spectrum"));
  all_maps_ = segment_button("spectrum_all_maps", tr("All maps"),
                             tr("The mean over all layers and heads"), "first");
  this_map_ = segment_button(
      "spectrum_this_map", tr("This map"),
      tr("The selected map alone, or the mean of several (Shift and a click)"), "last");
  all_maps_->setChecked(true);
  auto* segments = new Segments;
  segments->add(all_maps_);
  segments->add(this_map_);
  add_to_header(segments);
  all_channels_ = segment_button(
      "all_channels", tr("All channels"),
      tr("Every channel's maps by themselves, averaged (DAFT); they are run one after the other"),
      "only");
  all_channels_->setAutoExclusive(false);
  all_channels_->setVisible(false);
  null_ = segment_button("null_model", tr("Baseline"),
                         tr("Shuffled baseline: the same maps with each row shuffled, eight times, "
                            "as a grey band"),
                         "only");
  null_->setAutoExclusive(false);
  ranks_ = new ElidedLabel(Qt::ElideRight);
  ranks_->setObjectName("spectrum_ranks");
  ranks_->setProperty("role", "muted");
  auto* below = new QHBoxLayout;
  below->addWidget(ranks_, 1);
  below->addWidget(null_);
  below->addWidget(all_channels_);
  body()->addLayout(below);
  plot().setObjectName("spectrum_plot");
  plot().setAccessibleName(tr("Cumulative singular values of all models"));

  connect(this_map_, &QToolButton::toggled, this, &SpectrumPanel::want);
  connect(all_channels_, &QToolButton::toggled, this, &SpectrumPanel::want);
  connect(null_, &QToolButton::toggled, this, &SpectrumPanel::want);
  const auto follow_matrix = [this] {
    const MatrixChoice& matrix = this->session().view().matrix;
    note_matrix(matrix);
    null_->setEnabled(matrix.is_map());
  };
  connect(&session, &Session::view_changed, this, follow_matrix);
  follow_matrix();
  connect(&session, &Session::subjects_changed, this, [this] {
    all_channels_->setVisible(
        std::ranges::any_of(this->session().subjects(), [](const OpenSubject& open) {
          return open.subject.trace && open.subject.trace->map_channels > 1;
        }));
  });
  connect(&spectra, &SpectrumStore::spectra_ready, this, &SpectrumPanel::want);
  connect(this, &FigurePanel::drawn, this, &SpectrumPanel::show_ranks);
  connect(&session, &Session::selection_changed, this, [this] {
    if (this_map_->isChecked()) want();
  });
  connect(&atlases, &AtlasLink::one_map_changed, this, &SpectrumPanel::follow_atlases);
  follow_atlases(atlases.shows_one_map());
}

void SpectrumPanel::follow_atlases(bool one_map) {
  if (one_map && all_maps_->isChecked()) {
    follows_map_ = true;
    this_map_->setChecked(true);
  } else if (!one_map && std::exchange(follows_map_, false)) {
    all_maps_->setChecked(true);
  }
}

bool SpectrumPanel::changes_identity() const {
  return std::ranges::any_of(session().subjects(), [](const OpenSubject& open) {
    return open.ran_with.identity.has_value() || open.ran_with.share > 0;
  });
}

bool SpectrumPanel::awaits_more() const {
  // While a slider is dragged, or a network trains, the last curves stay.
  return std::ranges::any_of(session().subjects(), [this](const OpenSubject& open) {
    return (open.unchanged || spectra_.latest(open.id)) && open.subject.trace &&
           !spectra_.of(open.id) && spectra_.error_of(open.id).empty();
  });
}

FigurePanel::Finishing SpectrumPanel::finishing() const {
  std::optional<FigureRequest> before;
  const bool changed = std::ranges::any_of(
      session().subjects(), [](const OpenSubject& open) { return open.unchanged != nullptr; });
  if (changed) before = with_unchanged_spectra(session(), spectra_, kAsItIs);
  if (before) before->settings = request().settings;
  std::map<std::string, std::string> numbers;
  for (const OpenSubject& open : session().subjects()) {
    numbers[open.subject.label] = std::to_string(session().place_of(open.id) + 1);
  }
  return [before, numbers, view = session().view().identity](Figure& figure,
                                                             const Progress& progress) {
    fade_other_view(figure, view);
    shorten_legend(figure, numbers);
    if (before) add_ghosts(figure, make_figure("cumulative-spectrum", *before, progress));
  };
}

void SpectrumPanel::show_ranks() {
  QStringList means;
  const std::string key = "equivalent_rank_mean_of_maps/";
  for (const auto& [name, values] : figure()->numbers) {
    if (!name.starts_with(key) || values.empty()) continue;
    const std::string of = name.substr(key.size());
    QString text = QString(figure()->numbers.contains("estimated_maps/" + of) ? "≈ %1 %2" : "%1 %2")
                       .arg(values.front(), 0, 'f', 1)
                       .arg(QString::fromStdString(of));
    const auto null = figure()->numbers.find("null_rank_mean_of_maps/" + of);
    if (null != figure()->numbers.end()) {
      text += tr(" (shuffled %1)").arg(null->second.front(), 0, 'f', 1);
    }
    means << text;
  }
  ranks_->setVisible(all_maps_->isChecked() && !means.isEmpty());
  ranks_->set_text(tr("mean ranks: %1").arg(means.join(" · ")));
  ranks_->set_tip(
      tr("r in the plot is the rank of the mean curve; this is the mean of the maps' ranks. They "
         "can differ.\n%1")
          .arg(means.join("\n")));
}

QString SpectrumPanel::empty_text() const {
  return tr(
      "Open a model: how fast the singular values of its maps add up is drawn here, and the rank "
      "that follows.");
}

FigureRequest SpectrumPanel::request() const {
  FigureRequest request = with_spectra(session(), spectra_);
  set_threshold(session().view().rank_threshold, request.settings);
  // Both views are drawn, the one that is not shown faintly (finishing()). If the maps contain only
  // a share of I, the maps are drawn as they are.
  request.settings["identity"] =
      changes_identity() ? std::string(name_of(identity_view_names, IdentityView::as_is))
                         : std::string("both");
  const MatrixChoice& matrix = session().view().matrix;
  set_matrix(matrix, request.settings);
  if (null_->isChecked() && null_->isEnabled()) request.settings["null"] = std::string("shuffled");
  const bool of_maps = matrix.is_plain_map() && !null_->isChecked();
  if (of_maps && all_channels_->isChecked() && all_channels_->isVisibleTo(this)) {
    request.settings["channels"] = "all";
    // A trace from a file holds the maps of one channel only, so the setting is left out.
    const auto fixed = [](const Subject& subject) {
      return subject.trace->map_channels > 1 && !subject.model;
    };
    if (std::ranges::any_of(request.subjects, fixed)) request.settings.erase("channels");
  }
  if (this_map_->isChecked()) {
    const MapBlock maps = block_of(session().selection());
    request.settings["layer"] = IndexRanges{{maps.first_layer, maps.last_layer}};
    request.settings["head"] = IndexRanges{{maps.first_head, maps.last_head}};
  }
  return request;
}

}  // namespace attnscope
