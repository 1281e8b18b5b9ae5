// The two sides of the role editor: tensors, to be dragged, and roles, to be dropped on.
#pragma once

#include <QTreeWidget>
#include <map>
#include <string>
#include <vector>

#include "core/architecture/drafting/description_draft.h"

namespace attnscope {

/// Tensors by their patterns: those of every layer, and those outside.
class TensorTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit TensorTree(const std::vector<TensorGroup>& groups, QWidget* parent = nullptr);

  /// Says at each tensor which role it has; tensors without one stand out.
  void show_roles(const DescriptionDraft& draft);
  /// Of the current row; empty of a heading.
  [[nodiscard]] std::string current_pattern() const;
  void choose(const std::string& pattern);

 signals:
  void chosen(const std::string& pattern);  ///< it is the current row, or no tensor is (empty)
  void role_refused(const std::string& pattern);  ///< Delete: it is to have none

 protected:
  [[nodiscard]] QMimeData* mimeData(const QList<QTreeWidgetItem*>& items) const override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::map<std::string, QTreeWidgetItem*> items_;
};

/// Roles with the tensors that have them.
class RoleTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit RoleTree(QWidget* parent = nullptr);

  /// `proposals` say how sure what still stands as proposed is.
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

/// Every role that a description may give, with .weight and .bias of those that have them.
[[nodiscard]] std::vector<std::string> all_roles();
/// What a role is, with its shape.
[[nodiscard]] QString explanation_of(const std::string& role);
[[nodiscard]] QString shape_in_words(const Shape& shape);

}  // namespace attnscope
