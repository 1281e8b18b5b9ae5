// Table of all comparisons with the reference: one row per map of each compared model, and one per
// layer's mean.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "app/session/subject_id.h"

namespace attnscope {

class ComparisonStore;
class Session;

class ComparisonTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of the number that a column is sorted by; undefined values sort below all others.
  static constexpr int sort_role = Qt::UserRole;

  ComparisonTable(Session& session, ComparisonStore& store, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  /// The map of a row; layer and head are −1 for a mean over them.
  struct Place {
    SubjectId subject = SubjectId::none;
    std::int64_t layer = -1, head = -1;

    bool operator==(const Place&) const = default;
  };
  [[nodiscard]] Place place_of(int row) const;
  [[nodiscard]] int row_of(const Place& place) const;

  /// Sets the store to read from, which must outlive the table or the next call.
  void set_store(ComparisonStore& store);

  /// Reads the session and the comparisons again.
  void refresh();

 private:
  struct Row {
    Place place;
    std::int64_t reference_layer = -1, reference_head = -1;
    MapPairState state = MapPairState::compared;
    std::string note;  ///< reason for a missing value
    const ComparisonValues* values = nullptr;
  };
  [[nodiscard]] QString text(const Row& row, int column) const;
  [[nodiscard]] double number(const Row& row, int column) const;

  Session& session_;
  ComparisonStore* store_;
  std::vector<std::shared_ptr<const SubjectComparison>> comparisons_;  // owns the rows' values
  std::vector<Row> rows_;
};

}  // namespace attnscope
