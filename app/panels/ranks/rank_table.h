// Table of the ranks of all maps of all models: rows are means and heads, columns models.
#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/session/spectrum_store.h"

namespace attnscope {

class Session;

class RankTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of the number that a column is sorted by; NaN if there is no rank.
  static constexpr int sort_role = Qt::UserRole;

  RankTable(Session& session, SpectrumStore& spectra, QObject* parent = nullptr);

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

  /// Reads session and spectra again; resets the model if the rows or columns have changed.
  void refresh();
  /// Source of spectra of other matrices than the maps; empty: spectra of the maps.
  using Source = std::function<std::shared_ptr<const SubjectSpectra>(SubjectId)>;
  void set_source(Source source) { source_ = std::move(source); }

 private:
  enum class Quantity { layer, head, equivalent_rank, effective_rank, stable_rank, symmetry_error };
  struct Column {
    Quantity quantity;
    std::int64_t place = 0;  ///< index of the model among the open ones
    bool identity = false;
    bool operator==(const Column&) const = default;
  };

  [[nodiscard]] double number(const Place& place, const Column& column) const;
  [[nodiscard]] const MapSpectrum* spectrum(const Place& place, const Column& column) const;
  [[nodiscard]] QString text(const Place& place, const Column& column) const;

  Session& session_;
  SpectrumStore& store_;
  Source source_;
  std::vector<Place> rows_;
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<const SubjectSpectra>> spectra_;  // one per model, may be null
};

}  // namespace attnscope
