#include "app/panels/row/row_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>
#include <qcustomplot.h>
#include <utility>

#include "analysis/features/patch_features.h"
#include "analysis/figure/series_style.h"
#include "analysis/mixing/mixing.h"
#include "analysis/rollout/rollout.h"
#include "app/canvas/atlas_link.h"
#include "app/panels/frame/plot_instrument.h"
#include "app/panels/row/map_values.h"
#include "app/panels/row/query_view.h"
#include "app/session/job_queue.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/scale_bar.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr const char* kMaps = "maps";  // next to the names of mixings
constexpr float kNoWeight = std::numeric_limits<float>::quiet_NaN();
constexpr int kCurveDelayMs = 40;
constexpr int kBothHeight = 380;  // pixels in which pictures and curve have space
constexpr int kCurveHeight = 84;

/// True if the tokens after the layer were recorded, one for each query.
bool has_tokens(const Trace& trace, std::int64_t layer) {
  if (layer >= std::ssize(trace.layers)) return false;
  const Tensor& tokens = trace.layers[static_cast<std::size_t>(layer)].tokens;
  return !tokens.empty() && tokens.extent(0) == trace.queries(layer);
}

}  // namespace

RowPanel::RowPanel(Session& session, AtlasLink& atlases, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), atlases_(atlases) {
  add_header();
  caption_ = new WrappedLabel;
  caption_->setObjectName("row_caption");
  caption_->setProperty("role", "muted");
  add_rolled();
  as_curve_ = segment_button("row_as_curve", tr("Curve"),
                             tr("Weights as a curve, with the values of the map"), "only");
  as_curve_->setAutoExclusive(false);
  connect(as_curve_, &QToolButton::toggled, this, &RowPanel::divide);
  auto* above = new QHBoxLayout;
  above->addWidget(caption_, 1);
  above->addWidget(rolled_, 0, Qt::AlignTop);
  above->addWidget(as_curve_, 0, Qt::AlignTop);
  body()->addLayout(above);
  add_pictures();
  add_curve();
  delay_.setSingleShot(true);
  delay_.setInterval(kCurveDelayMs);
  connect(&delay_, &QTimer::timeout, this, &RowPanel::draw_curve);
  connect(&session_, &Session::subjects_changed, this, &RowPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &RowPanel::refresh);
  connect(&session_, &Session::view_changed, this, &RowPanel::refresh);
  refresh();
}

void RowPanel::add_header() {
  auto* segments = new Segments;
  const struct {
    const char *name, *text, *tip, *place;
  } choices[] = {
      {"row_row", QT_TR_NOOP("Row"), QT_TR_NOOP("The selected query's weights over the keys"),
       "first"},
      {"row_column", QT_TR_NOOP("Column"),
       QT_TR_NOOP("The weights that all queries give to the selected token"), "middle"},
      {"row_distance", QT_TR_NOOP("Distance"), QT_TR_NOOP("The mean weight by |query − key|"),
       "middle"},
      {"row_rollout", QT_TR_NOOP("Rollout"),
       QT_TR_NOOP("How much of each token reaches the selected one through all layers"), "middle"},
      {"row_cosine", QT_TR_NOOP("Cosine"),
       QT_TR_NOOP("The cosine of the selected token with each token after the layer"), "middle"},
      {"row_colours", QT_TR_NOOP("Colours"),
       QT_TR_NOOP("Three principal components of the patches after the layer as red, green, blue"),
       "last"}};
  for (const auto& choice : choices) {
    QToolButton* const button =
        segment_button(choice.name, tr(choice.text), tr(choice.tip), choice.place);
    segments->add(button);
    choices_.push_back(button);
    connect(button, &QToolButton::toggled, this, [this](bool on) {
      if (on) refresh();
    });
  }
  choices_.front()->setChecked(true);
  add_to_header(segments);
}

void RowPanel::add_rolled() {
  rolled_ = new ElidedComboBox(5);
  rolled_->setObjectName("rolled_out");
  rolled_->setAccessibleName(tr("Rolled-out matrix"));
  const auto add = [this](const QString& title, const std::string& name, const QString& tip) {
    rolled_->addItem(title, QString::fromStdString(name));
    rolled_->setItemData(rolled_->count() - 1, tip, Qt::ToolTipRole);
  };
  add(tr("maps"), kMaps, tr("½ mean of heads + ½ I (Abnar and Zuidema 2020)"));
  for (const auto& [mixing, title] :
       {std::pair{Mixing::block_norms, tr("norms")}, std::pair{Mixing::globenc, tr("GlobEnc")},
        std::pair{Mixing::alti, tr("ALTI")}}) {
    add(title, std::string(name_of(mixing_names, mixing)),
        QString::fromStdString(std::string(formula_of(mixing))));
  }
  rolled_->hide();
  connect(rolled_, &QComboBox::currentIndexChanged, this, &RowPanel::refresh);
}

void RowPanel::add_pictures() {
  pictures_ = new QWidget;
  auto* column = new QVBoxLayout(pictures_);
  column->setContentsMargins(0, 0, 0, 0);
  views_row_ = new QHBoxLayout;
  views_row_->setSpacing(10);
  column->addLayout(views_row_, 1);
  scale_ = new ScaleBar;
  opacity_ = new QSlider(Qt::Horizontal);
  opacity_->setObjectName("overlay_opacity");
  opacity_->setAccessibleName(tr("Opacity of the weights over the image"));
  opacity_->setToolTip(opacity_->accessibleName());
  opacity_->setRange(0, 100);
  opacity_->setValue(80);
  opacity_->setFixedWidth(56);
  auto* below = new QHBoxLayout;
  below->setSpacing(10);
  below->addWidget(scale_, 1);
  below->addWidget(opacity_, 0, Qt::AlignTop);
  column->addLayout(below);
  body()->addWidget(pictures_, 3);
  connect(opacity_, &QSlider::valueChanged, this, &RowPanel::refresh);
}

void RowPanel::add_curve() {
  plot_ = new QCustomPlot;
  plot_->setObjectName("profile_plot");
  plot_->setAccessibleName(tr("Profile of the selected map of every model"));
  plot_->setMinimumHeight(kCurveHeight);
  instrument_ = new PlotInstrument(*plot_);
  connect(instrument_, &PlotInstrument::axes_wanted, this, [this] { draw_curve(); });
  body()->addWidget(plot_, 2);
  values_ = new ElidedLabel(Qt::ElideRight);
  values_->setObjectName("map_numbers");
  values_->setProperty("role", "muted");
  body()->addWidget(values_);
}

RowPanel::Shown RowPanel::shown() const {
  const auto chosen = std::ranges::find_if(choices_, &QToolButton::isChecked);
  return chosen == choices_.end() ? Shown::row : static_cast<Shown>(chosen - choices_.begin());
}

bool RowPanel::show_page(const std::string& page) {
  if (page != "query" && page != "profile" && page != "cosine" && page != "colours") return false;
  const Shown shown = page == "cosine"    ? Shown::cosine
                      : page == "colours" ? Shown::colours
                                          : Shown::row;
  choices_[static_cast<std::size_t>(shown)]->setChecked(true);
  as_curve_->setChecked(page == "profile");
  return true;
}

std::optional<MapCell> RowPanel::selected_cell(const OpenSubject& open) const {
  const std::shared_ptr<const ShownMaps> maps = atlases_.maps(open.id);
  const Selection& selection = session_.selection();
  if (!maps || selection.layer >= maps->grid().layers) return std::nullopt;
  const bool fused = maps->settings().head_fusion != HeadFusion::none;
  MapCell cell{selection.layer, fused ? 0 : selection.head, -1, -1};
  if (cell.column >= maps->grid().columns) return std::nullopt;
  if (const auto query = selected_query(session_, open.id, selection.layer)) {
    cell.query = maps->row_of(selection.layer, *query);
    cell.key = maps->column_of(selection.layer, *query);
  }
  const MapExtent extent = maps->extent(cell.layer, cell.column);
  if (cell.query >= extent.queries) cell.query = -1;
  if (cell.key >= extent.keys) cell.key = -1;
  return cell;
}

const TokenLayout& RowPanel::layout_of(const Trace& trace) const {
  const std::int64_t layer = session_.selection().layer;
  if (shown() == Shown::rollout) return trace.layout;
  const bool of_keys = shown() == Shown::row || shown() == Shown::distance;
  const bool of_queries = !of_keys;
  return of_queries ? query_layout(trace, layer) : key_layout(trace, layer);
}

std::vector<float> RowPanel::cosines(const OpenSubject& open) const {
  const Trace& trace = *open.subject.trace;
  const std::int64_t layer = session_.selection().layer;
  std::vector<float> values(static_cast<std::size_t>(trace.queries(layer)), kNoWeight);
  const std::optional<std::int64_t> token = selected_query(session_, open.id, layer);
  if (!token || !has_tokens(trace, layer) || *token >= std::ssize(values)) return values;
  const Tensor& tokens = trace.layers[static_cast<std::size_t>(layer)].tokens;
  std::ranges::transform(token_cosines(tokens.matrix().cast<double>(), *token), values.begin(),
                         [](double cosine) { return static_cast<float>(cosine); });
  return values;
}

std::vector<float> RowPanel::rolled_out(const OpenSubject& open) {
  const Trace& trace = *open.subject.trace;
  std::vector<float> weights(static_cast<std::size_t>(trace.tokens()), kNoWeight);
  if (!has_rollout(trace)) return weights;
  want_rollout(open);
  const std::vector<float>& all = rollouts_[open.id].weights;
  // Rows of a rollout belong to the tokens of the first layer.
  const std::optional<std::int64_t> selected = selected_query(session_, open.id, 0);
  if (!all.empty() && selected && *selected < trace.tokens()) {
    const auto first = all.begin() + *selected * trace.tokens();
    std::copy(first, first + trace.tokens(), weights.begin());
  }
  return weights;
}

std::vector<float> RowPanel::weights_of(const OpenSubject& open) {
  if (shown() == Shown::rollout) return rolled_out(open);
  if (shown() == Shown::cosine) return cosines(open);
  const Trace& trace = *open.subject.trace;
  const std::int64_t layer = session_.selection().layer;
  if (shown() == Shown::colours) {
    want_colours(open);
    return std::vector(static_cast<std::size_t>(trace.queries(layer)), kNoWeight);
  }
  const bool of_queries = shown() == Shown::column;
  const std::int64_t tokens = of_queries ? trace.queries(layer) : trace.keys(layer);
  std::vector<float> weights(static_cast<std::size_t>(tokens), kNoWeight);
  const std::optional<MapCell> cell = selected_cell(open);
  if (!cell || (of_queries ? cell->key : cell->query) < 0) return weights;
  const std::shared_ptr<const ShownMaps> maps = atlases_.maps(open.id);
  const MapExtent extent = maps->extent(layer, cell->column);
  if (of_queries) {
    for (std::int64_t query = 0; query < extent.queries; ++query) {
      const std::int64_t token = maps->query_of(layer, query);
      if (token >= tokens) return weights;
      weights[static_cast<std::size_t>(token)] =
          maps->value({layer, cell->column, query, cell->key});
    }
    return weights;
  }
  if (maps->key_of(layer, extent.keys - 1) >= tokens) return weights;
  std::vector<float> row(static_cast<std::size_t>(extent.keys));
  maps->row(layer, cell->column, cell->query, 0, row);
  for (std::int64_t key = 0; key < extent.keys; ++key) {
    weights[static_cast<std::size_t>(maps->key_of(layer, key))] =
        row[static_cast<std::size_t>(key)];
  }
  return weights;
}

template <class Current>
auto RowPanel::failed(const Current& current) {
  return [this, current](const JobFailure& failure) {
    auto* const known = current();
    if (!known) return;
    known->error = failure.cancelled ? tr("stopped") : QString::fromStdString(failure.what);
    refresh();
  };
}

void RowPanel::want_rollout(const OpenSubject& open) {
  Rollout& rollout = rollouts_[open.id];
  const std::string by = rolled_->currentData().toString().toStdString();
  if (rollout.trace == open.subject.trace && rollout.by == by) return;
  session_.jobs().cancel(rollout.job);
  rollout = {open.subject.trace, by, {}, {}, 0};
  const auto current = [this, id = open.id, trace = rollout.trace, by]() -> Rollout* {
    Rollout& known = rollouts_[id];
    return known.trace == trace && known.by == by ? &known : nullptr;
  };
  rollout.job = session_.jobs().submit(
      tr("Rollout of %1").arg(QString::fromStdString(open.subject.label)),
      [this, subject = open.subject, by, current](const Progress& progress) -> JobQueue::Delivery {
        const Tensor reach =
            by == kMaps
                ? attention_rollout(*subject.trace, 0, progress)
                : mixing_rollout(subject, value_of(mixing_names, by, "mixing"), 0, progress);
        return
            [this, current, weights = std::vector(reach.values().begin(), reach.values().end())] {
              Rollout* const known = current();
              if (!known) return;
              known->weights = weights;
              refresh();
            };
      },
      failed(current), this);
}

void RowPanel::want_colours(const OpenSubject& open) {
  Coloured& coloured = coloured_[open.id];
  const std::int64_t layer = session_.selection().layer;
  if (coloured.trace == open.subject.trace && coloured.layer == layer) return;
  session_.jobs().cancel(coloured.job);
  coloured = {.trace = open.subject.trace, .layer = layer, .colours = {}, .error = {}};
  const auto current = [this, id = open.id, trace = coloured.trace, layer]() -> Coloured* {
    Coloured& known = coloured_[id];
    return known.trace == trace && known.layer == layer ? &known : nullptr;
  };
  coloured.job = session_.jobs().submit(
      tr("Colours of %1").arg(QString::fromStdString(open.subject.label)),
      [this, trace = coloured.trace, layer, current](const Progress&) -> JobQueue::Delivery {
        const MatrixD patches = patch_tokens(*trace, layer);
        const PatchAxes axes = patch_axes(patches);
        const MatrixD found = patch_colours(patches, axes);
        std::vector<QColor> colours(static_cast<std::size_t>(trace->queries(layer)));
        for (Eigen::Index patch = 0; patch < found.rows(); ++patch) {
          colours[static_cast<std::size_t>(query_layout(*trace, layer).prefix + patch)] =
              QColor::fromRgbF(static_cast<float>(found(patch, 0)),
                               static_cast<float>(found(patch, 1)),
                               static_cast<float>(found(patch, 2)));
        }
        return [this, current, colours, share = axes.share] {
          Coloured* const known = current();
          if (!known) return;
          known->colours = colours;
          known->share = share;
          refresh();
        };
      },
      failed(current), this);
}

void RowPanel::add_view() {
  auto* view = new QueryView;
  view->setObjectName(QString("query_view_%1").arg(views_.size()));
  connect(view, &QueryView::clicked, this, [this, view](std::int64_t token) {
    Selection selection = session_.selection();
    selection.subject = view->picture().subject;
    if (const auto trace = session_.trace(selection.subject)) {
      selection.query =
          same_place(view->picture().layout, token, query_layout(*trace, selection.layer),
                     trace->queries(selection.layer));
    }
    session_.select(selection);
  });
  connect(view, &QueryView::hovered, this, [this, view](std::optional<std::int64_t> token) {
    Selection selection = session_.selection();
    const SubjectId subject = view->picture().subject;
    const auto query = selected_query(session_, subject, selection.layer);
    selection.hover.reset();
    if (token && query) {
      const bool of_queries = shown() == Shown::column;
      selection.hover = {subject, selection.layer, selection.head, of_queries ? *token : *query,
                         of_queries ? *query : *token};
    }
    session_.select(selection);
  });
  views_row_->addWidget(view, 1);
  views_.push_back(view);
}

void RowPanel::refresh() {
  std::vector<const OpenSubject*> ready;
  for (const OpenSubject& open : session_.subjects()) {
    if (open.subject.trace) ready.push_back(&open);
  }
  const auto closed = [this](const auto& known) { return !session_.find(known.first); };
  std::erase_if(rollouts_, closed);
  std::erase_if(coloured_, closed);
  if (ready.empty()) {
    return show_instead(
        session_.subjects().empty()
            ? tr("Open a model to see what a token attends to, over the image or the text.")
            : tr("Choose an input."));
  }
  show_instead({});
  while (views_.size() > ready.size()) {
    views_.back()->deleteLater();
    views_.pop_back();
  }
  while (views_.size() < ready.size()) add_view();

  const Selection& selection = session_.selection();
  std::vector<std::vector<float>> weights;
  std::vector<std::int64_t> own;  // token at the query's position; −1: none
  double least = 0, largest = 0;
  for (const OpenSubject* open : ready) {
    const Trace& trace = *open->subject.trace;
    weights.push_back(weights_of(*open));
    const auto tokens = std::ssize(weights.back());
    const auto query = selected_query(session_, open->id, selection.layer);
    own.push_back(
        query ? same_place(query_layout(trace, selection.layer), *query, layout_of(trace), tokens)
              : -1);
    // A query's own cell contains I, or half of the rollout; it is left out, because it would
    // darken all others.
    // The scale is that of the pictures in a text: words may have far more.
    const std::vector<float>& row = weights.back();
    const auto weight_of = [&](std::int64_t token) {
      return token == own.back() ? std::nan("")
                                 : static_cast<double>(row[static_cast<std::size_t>(token)]);
    };
    const std::vector<TokenCells> pictures = layout_of(trace).pictures;
    std::vector<double> shown;
    if (pictures.empty() || pictures.back().end() > tokens) {
      for (std::int64_t token = 0; token < tokens; ++token) shown.push_back(weight_of(token));
    } else {
      for (const TokenCells& picture : pictures) {
        const std::vector<double> weights_over = picture.spread(weight_of);
        shown.insert(shown.end(), weights_over.begin(), weights_over.end());
      }
    }
    for (const double weight : shown) {
      if (!std::isfinite(weight)) continue;
      largest = std::max(largest, weight);
      least = std::min(least, weight);
    }
  }
  const ColourScale scale = scale_of(least, largest);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const OpenSubject& open = *ready[i];
    const auto hovered = hovered_tokens(session_, open.id);
    const bool of_queries = shown() == Shown::column;
    views_[i]->set_picture(
        {open.id, session_.place_of(open.id), QString::fromStdString(open.subject.label),
         open.subject.trace, layout_of(*open.subject.trace), std::move(weights[i]), scale, own[i],
         own[i] >= 0, hovered ? (of_queries ? hovered->query : hovered->key) : std::nullopt,
         opacity_->value() / 100.0, shown() == Shown::cosine,
         shown() == Shown::colours ? coloured_[open.id].colours : std::vector<QColor>{}});
  }
  opacity_->setVisible(std::ranges::any_of(
      ready, [](const OpenSubject* open) { return open->subject.trace->image() != nullptr; }));
  rolled_->setVisible(shown() == Shown::rollout);
  caption_->setText(caption(ready));
  scale_->set_scale(scale);
  scale_->setVisible(shown() != Shown::colours);
  divide();
}

ColourScale RowPanel::scale_of(double least, double largest) const {
  const ViewSettings& view = session_.view();
  const bool of_cosines = shown() == Shown::cosine;
  ColourScale scale;
  scale.label = of_cosines                  ? "cosine with the token"
                : shown() == Shown::rollout ? "share of the token reached"
                : shown() == Shown::column  ? "weight that the query gives"
                                            : "weight of the key";
  scale.colour_map = view.colour_map;
  scale.reversed = view.reversed_colours;
  // Cosines may be negative, and so have neither a logarithm nor a least value of 0.
  scale.norm = of_cosines ? ScaleNorm::linear : view.norm;
  scale.minimum = of_cosines ? least : 0;
  scale.maximum = of_cosines || !(largest > 0) ? 1 : largest;
  return scale;
}

void RowPanel::divide() {
  const bool both = height() >= kBothHeight;
  const bool only_curve = shown() == Shown::distance, only_picture = shown() == Shown::colours;
  pictures_->setVisible(only_picture || (!only_curve && (both || !as_curve_->isChecked())));
  plot_->setVisible(!only_picture && (only_curve || both || as_curve_->isChecked()));
  values_->setVisible(!plot_->isHidden());
  as_curve_->setVisible(!only_curve && !only_picture && !both);
  if (!plot_->isHidden() && !delay_.isActive()) delay_.start();
}

void RowPanel::show_values() {
  std::vector<ValuesOf> wanted;
  for (const OpenSubject& open : session_.subjects()) {
    const std::optional<MapCell> cell = selected_cell(open);
    if (cell) wanted.push_back({atlases_.maps(open.id), cell->layer, cell->column});
  }
  if (wanted == values_of_) return;
  values_of_ = std::move(wanted);
  QStringList said;
  QString of_selected;
  for (const OpenSubject& open : session_.subjects()) {
    const std::optional<MapCell> cell = selected_cell(open);
    if (!cell) continue;
    const QString values =
        values_in_words(map_values(*atlases_.maps(open.id), cell->layer, cell->column));
    said << QString("[%1] %2: %3")
                .arg(session_.place_of(open.id) + 1)
                .arg(QString::fromStdString(open.subject.label), values);
    if (open.id == session_.selection().subject || of_selected.isEmpty()) of_selected = values;
  }
  values_->set_text(of_selected);
  values_->set_tip(said.join('\n'));
}

void RowPanel::draw_curve() {
  if (plot_->isHidden() || !is_seen()) return;
  show_values();
  const Shown what = shown();
  auto figure = std::make_shared<Figure>();
  figure->name = "map-profile";
  attnscope::Panel panel;
  panel.x.label = what == Shown::column     ? "query"
                  : what == Shown::distance ? "|query − key|"
                  : what == Shown::cosine   ? "token"
                                            : "key";
  panel.y.label = what == Shown::rollout ? "share" : what == Shown::cosine ? "cosine" : "weight";
  panel.legend = LegendPosition::below;
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.trace) continue;
    const std::optional<MapCell> cell = selected_cell(open);
    if (!cell) continue;
    Line line;
    // Many long names would take the plot's height.
    constexpr std::size_t kManyModels = 3;
    line.label = session_.subjects().size() < kManyModels
                     ? open.subject.label
                     : std::to_string(session_.place_of(open.id) + 1);
    line.name = open.subject.label;
    line.colour = subject_colour(static_cast<std::size_t>(session_.place_of(open.id)));
    if (what == Shown::distance) {
      line.y = means_over_distance(*atlases_.maps(open.id), cell->layer, cell->column);
    } else {
      const std::vector<float> weights = weights_of(open);
      line.y.assign(weights.begin(), weights.end());
    }
    for (std::size_t at = 0; at < line.y.size(); ++at) line.x.push_back(static_cast<double>(at));
    line.keys = {{"model", open.subject.label},
                 {"layer", std::to_string(cell->layer + session_.view().first_layer)},
                 {"head", std::to_string(cell->column)}};
    const bool any = std::ranges::any_of(line.y, [](double y) { return std::isfinite(y); });
    if (any) panel.marks.emplace_back(std::move(line));
  }
  figure->panels.push_back(std::move(panel));
  figure_ = std::move(figure);
  instrument_->show(figure_, *this);
}

QString RowPanel::why_no_cosine(const std::vector<const OpenSubject*>& ready) const {
  for (const OpenSubject* open : ready) {
    if (has_tokens(*open->subject.trace, session_.selection().layer)) continue;
    return tr("No cosine for %1: its tokens were not recorded")
        .arg(QString::fromStdString(open->subject.label));
  }
  return {};
}

QString RowPanel::why_no_colours(const std::vector<const OpenSubject*>& ready) const {
  for (const OpenSubject* open : ready) {
    const auto known = coloured_.find(open->id);
    if (known == coloured_.end() || known->second.error.isEmpty()) continue;
    return tr("No colours for %1: %2")
        .arg(QString::fromStdString(open->subject.label), known->second.error);
  }
  return {};
}

QString RowPanel::why_no_rollout(const std::vector<const OpenSubject*>& ready) const {
  for (const OpenSubject* open : ready) {
    const QString label = QString::fromStdString(open->subject.label);
    if (!has_rollout(*open->subject.trace)) {
      return tr("No rollout for %1: its layers have other tokens, or fewer keys than queries")
          .arg(label);
    }
    const auto known = rollouts_.find(open->id);
    if (known != rollouts_.end() && !known->second.error.isEmpty()) {
      return tr("No rollout for %1: %2").arg(label, known->second.error);
    }
  }
  return {};
}

QString RowPanel::caption(const std::vector<const OpenSubject*>& ready) const {
  const Selection& selection = session_.selection();
  QString none = shown() == Shown::rollout   ? why_no_rollout(ready)
                 : shown() == Shown::cosine  ? why_no_cosine(ready)
                 : shown() == Shown::colours ? why_no_colours(ready)
                                             : QString();
  if (!none.isEmpty()) return none;
  const OpenSubject* const selected = session_.find(selection.subject);
  const OpenSubject& named = selected && selected->subject.trace ? *selected : *ready.front();
  const Trace& trace = *named.subject.trace;
  const QString token =
      QString::fromStdString(query_layout(trace, selection.layer).name(selection.query));
  const QString map =
      tr("%1 · head %2")
          .arg(QString::fromStdString(layer_name(trace, selection.layer)))
          .arg(session_.view().head_fusion == HeadFusion::none ? QString::number(selection.head)
                                                               : tr("fused"));
  // A long name, which has no place to break, must not make the panel wider than it is.
  const auto short_name = [this](const OpenSubject& open) {
    return fontMetrics().elidedText(QString::fromStdString(open.subject.label), Qt::ElideMiddle,
                                    10 * fontMetrics().height());
  };
  QString text;
  switch (shown()) {
    case Shown::row:
      text = tr("Query %1 · %2").arg(token, map);
      break;
    case Shown::column:
      text = tr("Key %1 · %2").arg(token, map);
      break;
    case Shown::distance:
      return tr("Mean over all pairs · %1").arg(map);
    case Shown::rollout:
      text = tr("Token %1 through all layers").arg(token);
      break;
    case Shown::cosine:
      text = tr("Likeness to %1 after %2")
                 .arg(token, QString::fromStdString(layer_name(trace, selection.layer)));
      break;
    case Shown::colours: {
      const std::array<double, 3> share =
          coloured_.contains(named.id) ? coloured_.at(named.id).share : std::array<double, 3>{};
      text = tr("Principal components of the patches after %1 · red %2 %, green %3 %, blue %4 % "
                "of their variance")
                 .arg(QString::fromStdString(layer_name(trace, selection.layer)) +
                      (ready.size() > 1 ? tr(" of ") + short_name(named) : QString()))
                 .arg(std::lround(100 * share[0]))
                 .arg(std::lround(100 * share[1]))
                 .arg(std::lround(100 * share[2]));
      break;
    }
  }
  for (const OpenSubject* open : ready) {
    if (shown() == Shown::colours || selected_query(session_, open->id, selection.layer)) continue;
    text += tr(" · no such token in %1").arg(short_name(*open));
  }
  return text;
}

void RowPanel::come_to_front() { divide(); }

void RowPanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  // The plot gets its new size only after the layout has run.
  QTimer::singleShot(0, this, &RowPanel::divide);
}

void RowPanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && figure_) draw_curve();
}

}  // namespace attnscope
