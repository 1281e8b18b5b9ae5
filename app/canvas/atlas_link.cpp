#include "app/canvas/atlas_link.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/components/ranked_maps.h"
#include "app/canvas/atlas_chrome.h"
#include "app/canvas/map_number.h"
#include "app/session/comparison_store.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// True if both are weights, or differences of one kind, so that the range of one set serves until
/// the other's is known.
bool of_one_kind(const ShownMaps& a, const ShownMaps& b) {
  if (a.compared_with() == nullptr || b.compared_with() == nullptr) {
    return a.compared_with() == b.compared_with();
  }
  return a.compared_with()->shown == b.compared_with()->shown;
}

}  // namespace

AtlasLink::AtlasLink(Session& session, ComparisonStore& comparisons, QObject* parent)
    : QObject(parent), session_(session), comparisons_(comparisons) {
  threads_.setMaxThreadCount(1);  // each task uses all cores
  connect(&session, &Session::subjects_changed, this, &AtlasLink::forget_closed_subjects);
  // Statistics start before the first drawing; started by it, they would have the maps drawn twice.
  connect(&session, &Session::trace_ready, this,
          [this](SubjectId subject) { (void)statistics(subject, false); });
  connect(&session, &Session::reference_changed, this, [this] {
    blinking_ = false;
    emit drawn_changed();
  });
  connect(&comparisons, &ComparisonStore::changed, this, &AtlasLink::drawn_changed);
  connect(&session, &Session::selection_changed, this, [this] {
    const MapIndex now{map_layer(), map_column()};
    if (view_ != View::map || now == enlarged_) return;
    enlarged_ = now;
    emit zoom_changed(false);
  });
}

AtlasLink::~AtlasLink() { threads_.waitForDone(); }

std::int64_t AtlasLink::map_layer() const { return session_.selection().layer; }

std::int64_t AtlasLink::map_column() const {
  return session_.view().head_fusion == HeadFusion::none ? session_.selection().head : 0;
}

void AtlasLink::set_zoom_view(View view) {
  view_ = view;
  // A map that is zoomed by hand after its enlargement is still the one in view.
  const bool one = view == View::map || (view == View::free && one_map_);
  if (one == one_map_) return;
  one_map_ = one;
  emit one_map_changed(one);
}

void AtlasLink::fit() {
  if (view_ == View::fit) return;
  set_zoom_view(View::fit);
  emit zoom_changed(true);
}

void AtlasLink::show_map(std::int64_t layer, std::int64_t column) {
  const Selection& selection = session_.selection();
  const bool each_head = session_.view().head_fusion == HeadFusion::none;
  session_.select_map(selection.subject, layer, each_head ? column : selection.head);
  if (view_ == View::map) return;
  enlarged_ = {map_layer(), map_column()};
  set_zoom_view(View::map);
  emit zoom_changed(true);
}

std::optional<MapIndex> AtlasLink::map_beside(SubjectId subject, MapIndex map, int step) {
  const std::shared_ptr<const ShownMaps> maps = this->maps(subject);
  if (!maps || maps->grid().empty()) return std::nullopt;
  const std::int64_t columns = maps->grid().columns, count = maps->grid().layers * columns;
  for (std::int64_t at = map.layer * columns + map.head + step; at >= 0 && at < count; at += step) {
    if (maps->extent(at / columns, at % columns).queries > 0) {
      return MapIndex{at / columns, at % columns};
    }
  }
  return std::nullopt;
}

void AtlasLink::step_map(int step) {
  const Selection& selection = session_.selection();
  const auto next = map_beside(selection.subject, {map_layer(), map_column()}, step);
  if (!next) return;
  const bool each_head = session_.view().head_fusion == HeadFusion::none;
  session_.select_map(selection.subject, next->layer, each_head ? next->head : selection.head);
}

void AtlasLink::set_zoom(const AtlasZoom& zoom) {
  set_zoom_view(View::free);
  zoom_ = zoom;
  emit zoom_changed(false);
}

void AtlasLink::reserve(const QMarginsF& margins) {
  if (margins == reserved_) return;
  reserved_ = margins;
  if (view_ != View::free) emit zoom_changed(false);
}

void AtlasLink::arrange(const AtlasArrangement& arrangement) {
  if (arrangement == arrangement_) return;
  arrangement_ = arrangement;
  if (view_ == View::free) set_zoom_view(View::fit);
  emit zoom_changed(false);
}

void AtlasLink::keep_rows(bool keep) {
  if (keep == keeps_rows_) return;
  keeps_rows_ = keep;
  emit rows_kept_changed();
}

void AtlasLink::print_numbers_of(const SpectrumStore& spectra) {
  spectra_ = &spectra;
  connect(&spectra, &SpectrumStore::spectra_ready, this, &AtlasLink::values_changed);
}

std::optional<PrintedNumber> AtlasLink::number_on(SubjectId subject, std::int64_t layer,
                                                  std::int64_t head) {
  const std::shared_ptr<const Trace> trace = session_.trace(subject);
  if (trace && session_.view().map_number == MapNumber::entropy) {
    return printed_entropy(entropy(subject, layer, head), *trace, session_.view(), layer);
  }
  const std::shared_ptr<const SubjectSpectra> spectra =
      spectra_ ? spectra_->latest(subject) : nullptr;
  if (!trace || !spectra) return std::nullopt;
  return printed_number(*spectra, *trace, session_.view(), layer, head);
}

QString AtlasLink::title_of(SubjectId subject, std::int64_t layer, std::int64_t column) {
  const std::shared_ptr<const ShownMaps> maps = this->maps(subject);
  if (!maps || layer >= maps->grid().layers) return {};
  const Trace& trace = maps->trace();
  QStringList parts = {QString::fromStdString(layer_name(trace, layer)),
                       column_name(maps->settings().head_fusion, column)};
  const Drawn drawn = this->drawn(subject);
  ViewSettings view = session_.view();
  if (drawn.difference) parts << value_name(view.comparison);
  if (drawn.difference || drawn.over_opacity > 0) return parts.join(" · ");
  const std::shared_ptr<const SubjectSpectra> spectra =
      spectra_ ? spectra_->latest(subject) : nullptr;
  view.map_number = MapNumber::equivalent_rank;
  if (const auto rank = spectra ? printed_number(*spectra, trace, view, layer, column)
                                : std::optional<PrintedNumber>()) {
    parts << (has_identity(trace, layer, view.identity) ? tr("rank %1 with I") : tr("rank %1"))
                 .arg(rank->text);
  }
  view.map_number = MapNumber::entropy;
  const auto nats = entropy_of_one(subject, {layer, column});
  if (const auto entropy =
          nats ? printed_entropy(*nats, trace, view, layer) : std::optional<PrintedNumber>()) {
    parts << tr("entropy %1 nats").arg(entropy->text);
  }
  return parts.join(" · ");
}

/// The entropy of a single map, computed in the background; nullopt until it is known.
std::optional<double> AtlasLink::entropy_of_one(SubjectId subject, MapIndex map) {
  Shown& known = *shown(subject);
  if (known.entropies && known.entropies_of == known.trace) {
    return known.entropies->of(map.layer, map.head);
  }
  if (known.of_one == known.trace && known.one == map) return known.entropy_of_one;
  known.of_one = known.trace;
  known.one = map;
  known.entropy_of_one.reset();
  threads_.start([this, subject, map, trace = known.trace] {
    double nats = 0;
    const auto read = [&] { nats = map_entropy(*trace, map.layer, map.head); };
    if (has_computed_maps(*trace)) {
      take_turn_at_computed_map(read);
    } else {
      read();
    }
    QMetaObject::invokeMethod(
        this,
        [this, subject, map, trace, nats] {
          const auto still = shown_.find(subject);
          if (still == shown_.end()) return;
          Shown& now = still->second;
          if (now.of_one != trace || !(now.one == map)) return;
          now.entropy_of_one = nats;
          emit values_changed();
        },
        Qt::QueuedConnection);
  });
  return std::nullopt;
}

double AtlasLink::entropy(SubjectId subject, std::int64_t layer, std::int64_t head) {
  Shown& known = *shown(subject);
  if (known.entropies_of != known.trace) {
    known.entropies_of = known.trace;
    known.entropies = nullptr;
    threads_.start([this, subject, trace = known.trace] {
      auto found = std::make_shared<const MapEntropies>(map_entropies(*trace));
      QMetaObject::invokeMethod(
          this,
          [this, subject, trace, found] {
            const auto still = shown_.find(subject);
            if (still == shown_.end() || still->second.entropies_of != trace) return;
            still->second.entropies = found;
            emit values_changed();
          },
          Qt::QueuedConnection);
    });
  }
  return known.entropies ? known.entropies->of(layer, head)
                         : std::numeric_limits<double>::quiet_NaN();
}

AtlasLink::NumberRange AtlasLink::number_range(SubjectId subject) {
  NumberRange range{std::numeric_limits<double>::infinity(),
                    -std::numeric_limits<double>::infinity()};
  for (const OpenSubject& open : session_.subjects()) {
    if (open.id != subject && session_.view().range_scope != RangeScope::all_models) continue;
    const std::shared_ptr<const ShownMaps> maps = this->maps(open.id);
    if (!maps) continue;
    for (std::int64_t layer = 0; layer < maps->grid().layers; ++layer) {
      for (std::int64_t column = 0; column < maps->grid().columns; ++column) {
        const auto number = number_on(open.id, layer, column);
        if (!number || std::isnan(number->value)) continue;
        range.least = std::min(range.least, number->value);
        range.greatest = std::max(range.greatest, number->value);
      }
    }
  }
  return range.least <= range.greatest ? range : NumberRange{};
}

std::shared_ptr<const std::vector<std::int64_t>> AtlasLink::order(SubjectId subject) {
  Shown* const known = shown(subject);
  if (known == nullptr || !session_.view().sorted_by_number) return nullptr;
  const AtlasGrid& grid = known->maps->grid();
  std::vector<double> numbers;
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const auto number = number_on(subject, layer, column);
      if (!number) return nullptr;
      numbers.push_back(number->value);
    }
  }
  std::vector<std::int64_t> sorted(numbers.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  // Maps with an unknown number come last.
  std::ranges::stable_sort(sorted, [&](std::int64_t one, std::int64_t other) {
    const double a = numbers[static_cast<std::size_t>(one)];
    const double b = numbers[static_cast<std::size_t>(other)];
    return std::isnan(b) ? !std::isnan(a) : a < b;
  });
  if (!known->order || *known->order != sorted) {
    known->order = std::make_shared<const std::vector<std::int64_t>>(std::move(sorted));
  }
  return known->order;
}

void AtlasLink::set_lens_open(bool open) {
  if (open == lens_open_) return;
  lens_open_ = open;
  emit lens_changed();
}

// --- the cursor ---------------------------------------------------------------------------------

std::optional<MapCell> AtlasLink::linked_cell(SubjectId subject) {
  const std::optional<HoveredCell>& hover = session_.selection().hover;
  const std::optional<HoveredTokens> tokens = hovered_tokens(session_, subject);
  const std::shared_ptr<const ShownMaps> maps = this->maps(subject);
  if (!maps || !tokens || !tokens->query || !tokens->key) return std::nullopt;
  const bool fused = maps->settings().head_fusion != HeadFusion::none;
  const MapCell cell{hover->layer, fused ? 0 : hover->head,
                     maps->row_of(hover->layer, *tokens->query),
                     maps->column_of(hover->layer, *tokens->key)};
  if (cell.layer >= maps->grid().layers || cell.column >= maps->grid().columns) {
    return std::nullopt;
  }
  const MapExtent extent = maps->extent(cell.layer, cell.column);
  const bool is_shown =
      cell.query >= 0 && cell.key >= 0 && cell.query < extent.queries && cell.key < extent.keys;
  return is_shown ? std::optional(cell) : std::nullopt;
}

std::shared_ptr<const Trace> AtlasLink::shown_trace(SubjectId subject, Ranked& ranked) {
  std::shared_ptr<const Trace> own = session_.trace(subject);
  const ViewSettings& view = session_.view();
  if (view.shown_rank == 0) return own;
  const bool known =
      ranked.own == own && ranked.rank == view.shown_rank && ranked.rest == view.shows_rest;
  if (!known && !ranked.in_work) find_ranked(subject, ranked);
  // The last truncated maps stay until the requested ones are computed.
  return ranked.own == own && ranked.trace ? ranked.trace : own;
}

void AtlasLink::find_ranked(SubjectId subject, Ranked& ranked) {
  ranked.in_work = true;
  ++ranked_in_work_;
  const ViewSettings& view = session_.view();
  threads_.start([this, subject, own = session_.trace(subject), known = ranked.maps,
                  rank = view.shown_rank, rest = view.shows_rest] {
    const auto maps =
        known && known->trace() == own ? known : std::make_shared<const RankedMaps>(own);
    auto trace = std::make_shared<const Trace>(maps->of_rank(rank, rest));
    QMetaObject::invokeMethod(
        this,
        [this, subject, own, maps, trace, rank, rest] {
          --ranked_in_work_;
          if (const auto still = shown_.find(subject); still != shown_.end()) {
            still->second.ranked = {own, maps, trace, rank, rest, false};
          }
          emit values_changed();
          emit drawn_changed();
        },
        Qt::QueuedConnection);
  });
}

AtlasLink::Shown* AtlasLink::shown(SubjectId subject) {
  if (!session_.trace(subject)) {
    if (const auto known = shown_.find(subject); known != shown_.end()) {
      known->second.trace = nullptr;
      known->second.maps = known->second.difference = known->second.over = nullptr;
    }
    return nullptr;
  }
  Shown& shown = shown_[subject];
  const std::shared_ptr<const Trace> trace = shown_trace(subject, shown.ranked);
  const ValueSettings settings(session_.view());
  if (shown.trace != trace || !shown.maps || !(shown.maps->settings() == settings)) {
    shown.trace = trace;
    shown.maps = std::make_shared<const ShownMaps>(trace, settings);
  }
  return &shown;
}

void AtlasLink::forget_closed_subjects() {
  std::erase_if(shown_, [this](const auto& entry) {
    if (session_.find(entry.first)) return false;
    statistics_in_work_ -= entry.second.of_maps.in_work + entry.second.of_difference.in_work;
    return true;
  });
}

std::shared_ptr<const ShownMaps> AtlasLink::maps(SubjectId subject) {
  const Shown* found = shown(subject);
  return found != nullptr ? found->maps : nullptr;
}

// --- comparison with the reference --------------------------------------------------------------

ComparedWith AtlasLink::compared_with(SubjectId subject, ComparedWith::Shown what) {
  const Shown* const reference = shown(session_.reference());
  return {reference ? reference->trace : nullptr, comparisons_.alignment(subject), what};
}

AtlasLink::Drawn AtlasLink::drawn(SubjectId subject) {
  Drawn drawn;
  Shown* found = shown(subject);
  if (found == nullptr) return drawn;
  drawn.maps = found->maps;
  const ViewSettings& view = session_.view();
  const auto of = [&](std::shared_ptr<const ShownMaps>& kept, ComparedWith::Shown what) {
    ComparedWith with = compared_with(subject, what);
    if (subject == session_.reference() || !with.reference || !with.alignment) {
      kept = nullptr;
    } else if (!kept || &kept->trace() != found->trace.get() ||
               !(kept->settings() == found->maps->settings()) ||
               !(*kept->compared_with() == with)) {
      kept =
          std::make_shared<const ShownMaps>(found->trace, found->maps->settings(), std::move(with));
    }
    return kept;
  };
  drawn.over = of(found->over, ComparedWith::Shown::counterpart);
  if (!drawn.over) {
    found->difference = nullptr;
    return drawn;
  }
  switch (view.comparison) {
    case ComparisonView::difference:
      drawn.maps = of(found->difference, ComparedWith::Shown::difference);
      break;
    case ComparisonView::absolute_difference:
      drawn.maps = of(found->difference, ComparedWith::Shown::absolute);
      break;
    case ComparisonView::relative_difference:
      drawn.maps = of(found->difference, ComparedWith::Shown::relative);
      break;
    case ComparisonView::wipe:
      drawn.wipe = view.wipe_position;
      drawn.over_opacity = 1;
      break;
    case ComparisonView::overlay:
      drawn.over_opacity = view.overlay_opacity;
      break;
    case ComparisonView::maps:
      break;
  }
  drawn.difference = drawn.maps != found->maps;
  if (!drawn.difference) found->difference = nullptr;
  if (blinking_) {
    drawn.maps = found->maps;
    drawn.difference = false;
    drawn.wipe.reset();
    drawn.over_opacity = 1;
  }
  return drawn;
}

void AtlasLink::set_blinking(bool blinking) {
  if (blinking == blinking_) return;
  blinking_ = blinking;
  emit drawn_changed();
}

void AtlasLink::blink() {
  if (session_.reference() == SubjectId::none) {
    if (session_.subjects().size() < 2) return;
    session_.set_reference(session_.subjects().front().id);
  }
  set_blinking(!blinking_);
}

// --- ranges -------------------------------------------------------------------------------------

const ValueStatistics* AtlasLink::statistics(SubjectId subject, bool of_difference) {
  Shown* found = shown(subject);
  if (found == nullptr) return nullptr;
  Statistics& known = of_difference ? found->of_difference : found->of_maps;
  const auto& maps = of_difference ? found->difference : found->maps;
  if (!maps) {
    known.values = nullptr;
    return nullptr;
  }
  if (known.asked != maps) {
    if (known.asked && !of_one_kind(*known.asked, *maps)) known.values = nullptr;
    known.asked = maps;
    if (!known.in_work) find_statistics(subject, of_difference);
  }
  return known.values.get();
}

void AtlasLink::find_statistics(SubjectId subject, bool of_difference) {
  const auto slot = [this, subject, of_difference]() -> Statistics* {
    const auto known = shown_.find(subject);
    if (known == shown_.end()) return nullptr;
    return of_difference ? &known->second.of_difference : &known->second.of_maps;
  };
  Statistics& known = *slot();
  known.in_work = true;
  ++statistics_in_work_;
  threads_.start([this, slot, subject, of_difference, maps = known.asked, before = known.last] {
    auto values = std::make_shared<const ValueStatistics>(value_statistics(*maps, before.get()));
    QMetaObject::invokeMethod(
        this,
        [this, slot, subject, of_difference, maps, values] {
          Statistics* found = slot();
          if (found == nullptr || !found->in_work) return;  // the model was closed meanwhile
          found->in_work = false;
          --statistics_in_work_;
          found->last = values;
          if (found->asked && of_one_kind(*found->asked, *maps)) found->values = values;
          if (found->asked != maps) find_statistics(subject, of_difference);
          emit values_changed();
        },
        Qt::QueuedConnection);
  });
}

std::vector<const ValueStatistics*> AtlasLink::all_statistics(bool of_differences) {
  std::vector<const ValueStatistics*> all;
  for (const OpenSubject& open : session_.subjects()) {
    if (of_differences && !drawn(open.id).difference) continue;
    if (const ValueStatistics* found = statistics(open.id, of_differences)) {
      all.push_back(found);
    }
  }
  return all;
}

bool AtlasLink::shares_range() const {
  const ViewSettings& view = session_.view();
  const bool laid_over = session_.reference() != SubjectId::none &&
                         (blinking_ || view.comparison == ComparisonView::wipe ||
                          view.comparison == ComparisonView::overlay);
  return view.range_scope == RangeScope::all_models || laid_over ||
         (view.range_minimum && view.range_maximum);
}

ValueRange AtlasLink::range(SubjectId subject, bool of_differences) {
  const ViewSettings& view = session_.view();
  if (of_differences) {
    return shared_range(all_statistics(of_differences), view_of_differences(view));
  }
  if (shares_range()) return shared_range(all_statistics(false), view);
  const ValueStatistics* const own[] = {statistics(subject, false)};
  return shared_range(own, view);
}

std::optional<ValueRange> AtlasLink::range_of_map(SubjectId subject, std::int64_t layer,
                                                  std::int64_t column) {
  const ViewSettings& view = session_.view();
  if (view.range_scope != RangeScope::map || view.range_minimum || view.range_maximum) {
    return std::nullopt;
  }
  const ValueStatistics* const known = statistics(subject, false);
  if (known == nullptr || column >= known->columns) return std::nullopt;
  if (layer >= std::ssize(known->layers)) return std::nullopt;
  const RangeBasis& map = known->map(layer, column);
  return map.finite > 0 ? std::optional(map_range(map, view)) : std::nullopt;
}

ColourScale AtlasLink::scale(SubjectId subject, bool of_differences) {
  const ViewSettings& view = session_.view();
  return colour_scale(range(subject, of_differences),
                      of_differences ? view_of_differences(view) : view);
}

ValueRange AtlasLink::full_range() {
  ValueCounts all;
  for (const ValueStatistics* one : all_statistics(false)) all.add(one->all);
  return all.finite > 0 ? ValueRange{all.minimum, all.maximum} : ValueRange{0, 0};
}

std::vector<float> AtlasLink::histogram(std::size_t parts) {
  const ValueRange full = full_range();
  std::vector<std::int64_t> counts(parts);
  for (const ValueStatistics* one : all_statistics(false)) {
    const auto own = one->all.attention.counts(full.minimum, full.maximum, parts);
    std::ranges::transform(counts, own, counts.begin(), std::plus{});
  }
  const auto most =
      static_cast<double>(std::max<std::int64_t>(1, *std::ranges::max_element(counts)));
  std::vector<float> heights;
  heights.reserve(counts.size());
  for (const std::int64_t count : counts) {
    heights.push_back(static_cast<float>(std::pow(static_cast<double>(count) / most, 0.25)));
  }
  return heights;
}

std::vector<AtlasLink::RangeChoice> AtlasLink::range_choices() {
  const ValueRange full = full_range();
  std::vector<RangeChoice> choices = {{"fixed: all values", full.minimum, full.maximum}};
  const Selection& selection = session_.selection();
  const Shown* const selected = shown(selection.subject);
  if (selected == nullptr) return choices;
  const ShownMaps& maps = *selected->maps;
  const std::int64_t column = maps.settings().head_fusion == HeadFusion::none ? selection.head : 0;
  const MapExtent extent = maps.extent(selection.layer, column);
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  std::vector<float> row(static_cast<std::size_t>(extent.keys));
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    maps.row(selection.layer, column, query, 0, row);
    for (const float value : row) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, static_cast<double>(value));
      greatest = std::max(greatest, static_cast<double>(value));
    }
  }
  if (greatest > least) choices.push_back({"fixed: selected map", least, greatest});
  return choices;
}

std::int64_t AtlasLink::cells_without_value(SubjectId subject) {
  const ValueStatistics* found = statistics(subject, drawn(subject).difference);
  return found != nullptr ? found->all.not_finite : 0;
}

bool AtlasLink::knows_values_of(SubjectId subject) {
  return statistics(subject, drawn(subject).difference) != nullptr;
}

}  // namespace attnscope
