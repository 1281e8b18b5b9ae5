// The two lists of the role editor: tensors to drag, and roles to drop them on.
#pragma once

#include <QTreeWidget>
#include <map>
#include <string>
#include <vector>

#include "core/architecture/unknown_models/description_draft.h"

namespace attnscope {

/// Tensors by pattern: those of every layer, and those outside the layers.
class TensorTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit TensorTree(const std::vector<TensorGroup>& groups, QWidget* parent = nullptr);

  /// Shows the role of each tensor; tensors without one are highlighted.
  void show_roles(const DescriptionDraft& draft);
  /// The pattern of the current row; empty for a heading.
  [[nodiscard]] std::string current_pattern() const;
  void choose(const std::string& pattern);

 signals:
  void chosen(const std::string& pattern);        ///< the current row changed; empty: no tensor
  void role_refused(const std::string& pattern);  ///< Delete was pressed on a tensor

 protected:
  [[nodiscard]] QMimeData* mimeData(const QList<QTreeWidgetItem*>& items) const override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::map<std::string, QTreeWidgetItem*> items_;
};

/// Roles and the tensors assigned to them.
class RoleTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit RoleTree(QWidget* parent = nullptr);

  /// Shows the roles of `draft`; `proposals` give the certainty of roles that are still as
  /// proposed. `all`: includes rare roles without a tensor.
  void show_roles(const DescriptionDraft& draft, const std::vector<RoleProposal>& proposals,
                  bool all);

 signals:
  void dropped(const std::string& pattern, const std::string& role);
  void chosen(const std::string& role);
  void role_refused(const std::string& pattern);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
};

/// All roles of a description, with .weight and .bias where both exist.
[[nodiscard]] std::vector<std::string> all_roles();
[[nodiscard]] QString shape_in_words(const Shape& shape);

}  // namespace attnscope
