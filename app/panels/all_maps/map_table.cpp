#include "app/panels/all_maps/map_table.h"

#include <QApplication>
#include <QFont>
#include <QPalette>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "app/look/theme.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"

namespace attnscope {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

QString number_or_none(double value, int digits) {
  return std::isnan(value) ? QStringLiteral("–") : QString::number(value, 'f', digits);
}

QString text_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

const std::vector<MapMeasure>& map_measures() {
  static const std::vector<MapMeasure> measures = [] {
    const HeadMeasure& equivalent = head_measure("equivalent_rank");
    std::vector<MapMeasure> list = {
        {.name = text_of(equivalent.name),
         .title = text_of(equivalent.title),
         .formula = text_of(equivalent.formula),
         .of_spectrum =
             [](const MapSpectrum& one, const RankThreshold& threshold) {
               return static_cast<double>(equivalent_rank(one, threshold));
             },
         .of_head = &equivalent,
         .depth = "equivalent"},
        {.name = "effective_rank",
         .title = MapTable::tr("effective rank"),
         .formula = MapTable::tr("exp(-Σ p ln p), p = σ / Σσ"),
         .decimals = 1,
         .of_spectrum = [](const MapSpectrum& one,
                           const RankThreshold&) { return one.effective_rank; },
         .depth = "effective"},
        {.name = "stable_rank",
         .title = MapTable::tr("stable rank"),
         .formula = MapTable::tr("‖A‖²_F / σ₁²"),
         .decimals = 1,
         .of_spectrum = [](const MapSpectrum& one,
                           const RankThreshold&) { return one.stable_rank; },
         .depth = "stable"},
        {.name = "symmetry_error",
         .title = MapTable::tr("asymmetry"),
         .formula = MapTable::tr("‖A − Aᵀ‖ / ‖A‖, 0 for a symmetric map"),
         .decimals = 2,
         .of_spectrum = [](const MapSpectrum& one, const RankThreshold&) {
           return one.symmetry_error;
         }}};
    for (const HeadMeasure& measure : head_measures()) {
      // Measures of null models need figures that compute them.
      const bool needs_null =
          measure.value == &HeadRow::null_rank || measure.value == &HeadRow::rank_over_null;
      if (measure.name == equivalent.name || needs_null) continue;
      list.push_back({.name = text_of(measure.name),
                      .title = text_of(measure.title),
                      .formula = text_of(measure.formula),
                      .decimals = measure.decimals,
                      .of_head = &measure});
    }
    return list;
  }();
  return measures;
}

MapTable::MapTable(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session), measure_(&map_measures().front()) {}

void MapTable::refresh(const MapMeasure& measure, const Source& source) {
  std::vector<Place> rows;
  std::vector<Column> columns = {{Quantity::layer}, {Quantity::head}};
  known_.clear();
  const bool same_measure = std::exchange(measure_, &measure) == &measure;
  std::map<std::int64_t, std::int64_t> heads_of_layer;
  const auto take = [&](const auto& list) {
    for (const auto& one : list) {
      std::int64_t& heads = heads_of_layer[one.layer];
      heads = std::max(heads, one.head + 1);
    }
  };
  for (const OpenSubject& open : session_.subjects()) {
    const std::int64_t place = std::ssize(known_);
    const Known& known = known_.emplace_back(source(open.id));
    if (known.spectra || known.heads) columns.push_back({Quantity::value, place, false});
    if (known.spectra && !known.spectra->with.empty()) {
      columns.push_back({Quantity::value, place, true});
    }
    if (known.spectra) take(known.spectra->without);
    if (known.heads) take(known.heads->rows);
  }
  if (!heads_of_layer.empty()) rows.push_back({-1, -1});
  for (const auto& [layer, heads] : heads_of_layer) {
    rows.push_back({layer, -1});
    for (std::int64_t head = 0; head < heads; ++head) rows.push_back({layer, head});
  }
  if (same_measure && rows == rows_ && columns == columns_) {
    if (!rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    return;
  }
  beginResetModel();
  rows_ = std::move(rows);
  columns_ = std::move(columns);
  endResetModel();
}

int MapTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int MapTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

MapTable::Place MapTable::place_of(int row) const {
  return rows_.at(static_cast<std::size_t>(row));
}

int MapTable::row_of(std::int64_t layer, std::int64_t head) const {
  const auto found = std::ranges::find(rows_, Place{layer, head});
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

bool MapTable::is_of_other_view(int column) const {
  const Column& own = columns_.at(static_cast<std::size_t>(column));
  Column other = own;
  other.identity = !own.identity;
  if (own.quantity != Quantity::value || std::ranges::find(columns_, other) == columns_.end()) {
    return false;
  }
  const OpenSubject& open = session_.subjects().at(static_cast<std::size_t>(own.place));
  return open.subject.trace &&
         shows_identity(*open.subject.trace, session_.view().identity) != own.identity;
}

const MapSpectrum* MapTable::spectrum(const Place& place, const Column& column) const {
  if (column.quantity != Quantity::value || place.head < 0) return nullptr;
  const auto& spectra = known_.at(static_cast<std::size_t>(column.place)).spectra;
  if (!spectra) return nullptr;
  return find_spectrum(column.identity ? spectra->with : spectra->without, place.layer, place.head);
}

double MapTable::number(const Place& place, const Column& column) const {
  if (column.quantity == Quantity::layer) return static_cast<double>(place.layer);
  if (column.quantity == Quantity::head) return static_cast<double>(place.head);
  double sum = 0;
  std::int64_t count = 0;
  const auto take = [&](std::int64_t layer, std::int64_t head, double value) {
    const bool is_here = (place.layer < 0 || layer == place.layer) &&
                         (place.head < 0 || head == place.head) && !std::isnan(value);
    sum += is_here ? value : 0;
    count += is_here ? 1 : 0;
  };
  const Known& known = known_.at(static_cast<std::size_t>(column.place));
  if (known.spectra) {
    const RankThreshold& threshold = session_.view().rank_threshold;
    for (const MapSpectrum& one : column.identity ? known.spectra->with : known.spectra->without) {
      const bool ready = one.state == SpectrumState::ready;
      take(one.layer, one.head, ready ? measure_->of_spectrum(one, threshold) : kNone);
    }
  } else if (known.heads) {
    for (const HeadRow& row : known.heads->rows) {
      take(row.layer, row.head, row.*measure_->of_head->value);
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : kNone;
}

QString MapTable::text(const Place& place, const Column& column) const {
  if (column.quantity == Quantity::layer) {
    return place.layer < 0 ? tr("all") : QString::number(place.layer);
  }
  if (column.quantity == Quantity::head) {
    return place.head < 0 ? tr("mean") : QString::number(place.head);
  }
  const double value = number(place, column);
  const MapSpectrum* const one = spectrum(place, column);
  if (std::isnan(value)) {
    if (!one) return "–";
    switch (one->state) {
      case SpectrumState::ready:
        return "–";  // the spectrum does not give this number
      case SpectrumState::not_finite:
        return tr("NaN");
      case SpectrumState::zero:
        return tr("zero");
      case SpectrumState::not_converged:
        return tr("none");
    }
  }
  const int digits = place.head >= 0 ? measure_->decimals : std::max(measure_->decimals, 1);
  const QString shown = QString::number(value, 'f', digits);
  const auto& spectra = known_.at(static_cast<std::size_t>(column.place)).spectra;
  if (!spectra) return shown;
  const bool estimated =
      one ? one->estimate != nullptr
          : are_estimated(column.identity ? spectra->with : spectra->without, place.layer);
  return (estimated ? "≈ " : "") + shown;
}

QString MapTable::tip(const MapSpectrum& one, bool identity) const {
  const RankThreshold& threshold = session_.view().rank_threshold;
  QString tip =
      tr("Layer %1, head %2, %3 I: %4. Rank %5 of %6; effective %7, stable %8, numerical %9")
          .arg(one.layer)
          .arg(one.head)
          .arg(identity ? tr("with") : tr("without"))
          .arg(text_of(describe(one.state)))
          .arg(one.state == SpectrumState::ready ? QString::number(equivalent_rank(one, threshold))
                                                 : QStringLiteral("–"))
          .arg(one.tokens)
          .arg(number_or_none(one.effective_rank, 1), number_or_none(one.stable_rank, 2),
               one.numerical_rank > 0 ? QString::number(one.numerical_rank) : QStringLiteral("–"));
  if (one.rank_bound > 0) tip += tr("; the mechanism bounds the rank by %1").arg(one.rank_bound);
  if (one.method == SpectrumMethod::factored) tip += tr("; from the map's factors");
  if (one.estimate) {
    const RankInterval interval = rank_interval(one, threshold);
    tip += tr("; estimated: rank %1 to %2 with 95 % confidence, effective rank ± %6, Σσ = %3 "
              "± %4, the leading %5 values exact")
               .arg(interval.low)
               .arg(interval.high)
               .arg(one.estimate->nuclear_norm, 0, 'g', 4)
               .arg(one.estimate->standard_error, 0, 'g', 2)
               .arg(one.estimate->known)
               .arg(one.estimate->effective_rank_error, 0, 'g', 2);
  }
  if (one.zero_rows > 0) tip += tr("; %1 rows are all zero").arg(one.zero_rows);
  return tip;
}

QVariant MapTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Place& place = rows_.at(static_cast<std::size_t>(index.row()));
  const Column& column = columns_.at(static_cast<std::size_t>(index.column()));
  switch (role) {
    case Qt::DisplayRole:
      return text(place, column);
    case sort_role:
      return number(place, column);
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::FontRole:
      if (place.head < 0) {
        QFont font = number_font(QApplication::font());
        font.setPointSizeF(font.pointSizeF() - 0.5);
        font.setBold(true);
        return font;
      }
      return {};
    case Qt::ToolTipRole:
      if (const MapSpectrum* const one = spectrum(place, column)) {
        return tip(*one, column.identity);
      }
      return {};
    default:
      return {};
  }
}

QVariant MapTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const Column& column = columns_.at(static_cast<std::size_t>(section));
  const QString subject = QString::number(column.place + 1);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ForegroundRole && column.quantity == Quantity::value) {
    const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    return subject_colour(column.place, dark ? Theme::dark : Theme::light);
  }
  if (role == Qt::DisplayRole) {
    if (column.quantity == Quantity::layer) return tr("Layer");
    if (column.quantity == Quantity::head) return tr("Head");
    return column.identity ? subject + " + I" : subject;
  }
  if (role == Qt::ToolTipRole && column.quantity == Quantity::value) {
    return tr("Model %1, %2: %3, %4")
        .arg(subject, column.identity ? tr("with I") : tr("without I"), measure_->title,
             measure_->formula);
  }
  return {};
}

}  // namespace attnscope
