// The table of one measure of every map of every model.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "analysis/heads/head_table.h"
#include "analysis/spectrum/spectrum.h"
#include "app/session/subject_id.h"

namespace attnscope {

class Session;

/// A number of every map: taken from its spectrum, without I and with it, or from the table of
/// heads, whose maps are without I.
struct MapMeasure {
  QString name;      ///< "equivalent_rank"
  QString title;     ///< "equivalent rank"
  QString formula;   ///< the exact formula of the value
  int decimals = 0;  ///< digits for one map; means have at least one
  double (*of_spectrum)(const MapSpectrum& spectrum, const RankThreshold& threshold) = nullptr;
  const HeadMeasure* of_head = nullptr;
  const char* depth = nullptr;  ///< setting "measure" of the figure rank-over-depth; may be null

  [[nodiscard]] bool has_heat_map() const { return of_head != nullptr; }
  [[nodiscard]] bool has_depth() const { return of_head != nullptr || depth != nullptr; }
  /// True if it is a rank, which the analysed matrix has; other measures are of the map.
  [[nodiscard]] bool follows_matrix() const { return of_spectrum != nullptr || is_rank(*of_head); }
};

/// The measures; the first is the equivalent rank.
[[nodiscard]] const std::vector<MapMeasure>& map_measures();

/// Rows are means and heads, columns models, each without I and with I where both are known.
class MapTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of the number that a column is sorted by; NaN if there is none.
  static constexpr int sort_role = Qt::UserRole;

  explicit MapTable(Session& session, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  /// The layer and head of a row; −1 for a mean over them.
  struct Place {
    std::int64_t layer = -1, head = -1;
    bool operator==(const Place&) const = default;
  };
  [[nodiscard]] Place place_of(int row) const;
  [[nodiscard]] int row_of(std::int64_t layer, std::int64_t head) const;
  /// True for a column without I next to the same model's with I, or with I next to that without,
  /// if the window shows the other one.
  [[nodiscard]] bool is_of_other_view(int column) const;

  /// The numbers of one model that are known: one of the two, or none yet.
  struct Known {
    std::shared_ptr<const SubjectSpectra> spectra = nullptr;
    std::shared_ptr<const HeadTable> heads = nullptr;
  };
  using Source = std::function<Known(SubjectId)>;
  /// Reads the session and the numbers; resets the model if the rows or columns have changed.
  void refresh(const MapMeasure& measure, const Source& source);

 private:
  enum class Quantity { layer, head, value };
  struct Column {
    Quantity quantity;
    std::int64_t place = 0;  ///< index of the model among the open ones
    bool identity = false;
    bool operator==(const Column&) const = default;
  };

  [[nodiscard]] double number(const Place& place, const Column& column) const;
  [[nodiscard]] const MapSpectrum* spectrum(const Place& place, const Column& column) const;
  [[nodiscard]] QString text(const Place& place, const Column& column) const;
  [[nodiscard]] QString tip(const MapSpectrum& one, bool identity) const;

  Session& session_;
  const MapMeasure* measure_;
  std::vector<Place> rows_;
  std::vector<Column> columns_;
  std::vector<Known> known_;  // one per model
};

}  // namespace attnscope
