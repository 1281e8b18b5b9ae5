// The numbers of every comparison with the reference, as a table: a row for each map of each
// compared subject, and for each layer's mean.
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
  /// What a column is sorted by: a number; what is not defined sorts below everything.
  static constexpr int sort_role = Qt::UserRole;

  ComparisonTable(Session& session, ComparisonStore& store, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  /// What a row is about; layer and head −1 where it is a mean over them.
  struct Place {
    SubjectId subject = SubjectId::none;
    std::int64_t layer = -1, head = -1;

    bool operator==(const Place&) const = default;
  };
  [[nodiscard]] Place place_of(int row) const;
  [[nodiscard]] int row_of(const Place& place) const;

  /// Another store to read from. It must outlive the table, or the next call.
  void set_store(ComparisonStore& store);

  /// Reads session and comparisons again.
  void refresh();

 private:
  struct Row {
    Place place;
    std::int64_t reference_layer = -1, reference_head = -1;
    MapPairState state = MapPairState::compared;
    std::string note;  ///< why something is missing
    const ComparisonValues* values = nullptr;
  };
  [[nodiscard]] QString text(const Row& row, int column) const;
  [[nodiscard]] double number(const Row& row, int column) const;

  Session& session_;
  ComparisonStore* store_;
  std::vector<std::shared_ptr<const SubjectComparison>> comparisons_;  // what the rows point into
  std::vector<Row> rows_;
};

}  // namespace attnscope
