// Editor for weight files without a known architecture: assigns a role to each tensor, checks the
// result at once, tries it, and saves it as a description (docs/architecture-descriptions.md).
#pragma once

#include <QDialog>
#include <QTimer>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "core/architecture/unknown_models/description_draft.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLayout;
class QPushButton;

namespace attnscope {

class RoleTree;
class TensorTree;

class RoleEditor : public QDialog {
  Q_OBJECT
 public:
  /// Throws Error if the file cannot be opened as weights. `subject`: the model to reload once the
  /// description is saved; none: the file is opened as a new model.
  RoleEditor(Session& session, const std::filesystem::path& file, const ModelOptions& options,
             SubjectId subject, QWidget* parent = nullptr);

  /// True if a file can be read as weights, but its architecture is not recognised.
  [[nodiscard]] static bool is_for(const std::filesystem::path& file, const ModelOptions& options);

  [[nodiscard]] const DescriptionDraft& draft() const { return draft_; }
  /// Gives a role to a tensor; earlier assignments of either are removed. An empty role excludes
  /// the tensor.
  void assign(const std::string& pattern, const std::string& role);
  /// Removes the tensor's role.
  void clear_role(const std::string& pattern);
  /// Writes the description and opens the model with it. Returns false and reports the error if it
  /// cannot be written.
  bool save(const std::filesystem::path& description);

 private:
  [[nodiscard]] QWidget* make_trees();
  [[nodiscard]] QLayout* make_role_row();
  [[nodiscard]] QWidget* make_members();
  [[nodiscard]] QLayout* make_buttons();
  void set_member(const std::string& member, const QString& value);
  void show_draft();
  void show_chosen(const std::string& pattern);
  void check();
  void try_it();
  void ask_where_to_save();
  void show_note(QLabel& label, const QString& words, const char* role);
  [[nodiscard]] const TensorGroup* group(const std::string& pattern) const;

  Session& session_;
  std::filesystem::path file_;
  ModelOptions options_;
  SubjectId subject_;
  Checkpoint checkpoint_;
  std::vector<TensorGroup> groups_;
  std::vector<RoleProposal> proposals_;
  DescriptionDraft draft_;
  DraftCheck checked_;
  QTimer delay_;

  TensorTree* tensors_ = nullptr;
  RoleTree* roles_ = nullptr;
  QCheckBox* all_ = nullptr;
  QLabel *tensor_ = nullptr, *status_ = nullptr, *assumed_ = nullptr, *tried_ = nullptr;
  QComboBox* role_ = nullptr;
  QCheckBox* transposed_ = nullptr;
  QPushButton *try_ = nullptr, *save_ = nullptr;
};

}  // namespace attnscope
