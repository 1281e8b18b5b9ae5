#include "app/panels/comparison/comparison_table.h"

#include <QApplication>
#include <QFont>
#include <QPalette>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/matrix/matrix_kind.h"
#include "app/look/theme.h"
#include "app/session/comparison_store.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

/// Columns that identify the map, followed by its numbers, most informative first.
enum PlaceColumn : int { kSubject, kLayer, kHead, kBeside, kPlaceColumns };

struct NumberColumn {
  Quantity quantity;
  int digits;  // digits after the decimal point, for a single map
};
constexpr std::array kNumbers = {NumberColumn{Quantity::divergence, 3},
                                 NumberColumn{Quantity::cosine_distance, 3},
                                 NumberColumn{Quantity::frobenius_distance, 2},
                                 NumberColumn{Quantity::spectrum_distance, 3},
                                 NumberColumn{Quantity::rank_difference, 0},
                                 NumberColumn{Quantity::cka, 3},
                                 NumberColumn{Quantity::largest_divergence, 3},
                                 NumberColumn{Quantity::relative_frobenius, 2},
                                 NumberColumn{Quantity::rank, 0},
                                 NumberColumn{Quantity::reference_rank, 0},
                                 NumberColumn{Quantity::effective_rank_difference, 1},
                                 NumberColumn{Quantity::stable_rank_difference, 2}};

const NumberColumn& number_column(int column) {
  return kNumbers.at(static_cast<std::size_t>(column - kPlaceColumns));
}

const ComparisonQuantityEntry& entry_of(Quantity quantity) {
  return comparison_quantities()[static_cast<std::size_t>(quantity)];
}

}  // namespace

ComparisonTable::ComparisonTable(Session& session, ComparisonStore& store, QObject* parent)
    : QAbstractTableModel(parent), session_(session), store_(&store) {
  refresh();
}

void ComparisonTable::set_store(ComparisonStore& store) {
  store_ = &store;
  refresh();
}

void ComparisonTable::refresh() {
  beginResetModel();
  rows_.clear();
  comparisons_.clear();
  for (const OpenSubject& open : session_.subjects()) {
    const SubjectId id = open.id;
    const auto comparison = store_->comparison(id);
    if (!comparison) continue;
    comparisons_.push_back(comparison);
    rows_.push_back(
        {{id, -1, -1}, -1, -1, MapPairState::compared, comparison->summary, &comparison->mean});
    auto map = comparison->maps.begin();
    for (const ComparedLayer& layer : comparison->layers) {
      const bool one = map != comparison->maps.end() && map->head == kAllHeads;
      rows_.push_back({{id, layer.layer, -1},
                       layer.reference_layer,
                       -1,
                       one && map->layer == layer.layer ? map->state : MapPairState::compared,
                       layer.why_no_cka,
                       &layer.values});
      for (; map != comparison->maps.end() && map->layer == layer.layer; ++map) {
        if (map->head == kAllHeads) continue;  // the layer's row has its numbers
        rows_.push_back({{id, map->layer, map->head},
                         map->reference_layer,
                         map->reference_head,
                         map->state,
                         {},
                         &map->values});
      }
    }
  }
  endResetModel();
}

int ComparisonTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ComparisonTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kPlaceColumns + static_cast<int>(kNumbers.size());
}

ComparisonTable::Place ComparisonTable::place_of(int row) const {
  return rows_.at(static_cast<std::size_t>(row)).place;
}

int ComparisonTable::row_of(const Place& place) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].place == place) return static_cast<int>(row);
  }
  return -1;
}

double ComparisonTable::number(const Row& row, int column) const {
  double value = 0;
  switch (column) {
    case kSubject:
      return static_cast<double>(session_.place_of(row.place.subject));
    case kLayer:
      return static_cast<double>(row.place.layer);
    case kHead:
      return static_cast<double>(row.place.head);
    case kBeside:
      return static_cast<double>(row.reference_layer * 10000 + row.reference_head);
    default:
      value = (*row.values)[number_column(column).quantity];
  }
  return std::isnan(value) ? std::numeric_limits<double>::lowest() : value;
}

QString ComparisonTable::text(const Row& row, int column) const {
  switch (column) {
    case kSubject:
      return QString::number(session_.place_of(row.place.subject) + 1);
    case kLayer:
      return row.place.layer < 0 ? tr("all") : QString::number(row.place.layer);
    case kHead:
      return row.place.head < 0 ? tr("mean") : QString::number(row.place.head);
    case kBeside: {
      if (row.place.layer < 0) return {};
      const bool none = row.reference_layer < 0 || (row.place.head >= 0 && row.reference_head < 0);
      if (none) return "–";
      const QString layer = QString::number(row.reference_layer);
      return row.place.head < 0 ? layer : layer + "." + QString::number(row.reference_head);
    }
    default:
      break;
  }
  const NumberColumn& shown = number_column(column);
  const double value = (*row.values)[shown.quantity];
  if (std::isnan(value)) return "–";
  const bool is_rank = shown.digits == 0;
  QString digits = QString::number(value, 'f', is_rank && row.place.head < 0 ? 1 : shown.digits);
  const bool is_difference = shown.quantity == Quantity::rank_difference ||
                             shown.quantity == Quantity::effective_rank_difference ||
                             shown.quantity == Quantity::stable_rank_difference;
  if (is_difference && value > 0) digits = "+" + digits;
  return digits.replace('-', "−");
}

QVariant ComparisonTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_.at(static_cast<std::size_t>(index.row()));
  switch (role) {
    case Qt::DisplayRole:
      return text(row, index.column());
    case sort_role:
      return number(row, index.column());
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (index.column() == kSubject) {
        const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
        return subject_colour(session_.place_of(row.place.subject),
                              dark ? Theme::dark : Theme::light);
      }
      return {};
    case Qt::FontRole:
      if (row.place.head < 0) {
        QFont font = number_font(QApplication::font());
        font.setPointSizeF(font.pointSizeF() - 0.5);
        font.setBold(true);
        return font;
      }
      return {};
    case Qt::ToolTipRole:
      if (row.state != MapPairState::compared) return QString::fromUtf8(describe(row.state));
      if (!row.note.empty()) return QString::fromStdString(row.note);
      return {};
    default:
      return {};
  }
}

QVariant ComparisonTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const bool title = role == Qt::DisplayRole;
  switch (section) {
    case kSubject:
      return title ? tr("#") : tr("The compared model");
    case kLayer:
      return title ? tr("Layer") : tr("Its layer");
    case kHead:
      return title ? tr("Head") : tr("Its head");
    case kBeside:
      return title ? tr("with") : tr("Layer and head of the reference it is compared with");
    default: {
      const ComparisonQuantityEntry& entry = entry_of(number_column(section).quantity);
      QString text = QString::fromUtf8(title ? entry.title : entry.explanation);
      const MatrixChoice analysed = store_->options().analysed;
      const bool of_others = !title && !analysed.is_plain_map() && entry.quantity != Quantity::cka;
      if (of_others) text += tr("; of the %1").arg(QString::fromStdString(in_words(analysed)));
      return text;
    }
  }
}

}  // namespace attnscope
