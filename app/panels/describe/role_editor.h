// For a file that nobody recognises: says of each tensor what it is, checks that at once, tries it,
// and saves it as a description (docs/architecture-descriptions.md).
#pragma once

#include <QDialog>
#include <QTimer>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "core/architecture/drafting/description_draft.h"

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
  /// Throws Error where the file cannot be opened as weights. `subject`: what is loaded again once
  /// the description is saved; none: it is opened.
  RoleEditor(Session& session, const std::filesystem::path& file, const ModelOptions& options,
             SubjectId subject, QWidget* parent = nullptr);

  /// Whether a file can be read as weights, but not recognised: what this is for.
  [[nodiscard]] static bool is_for(const std::filesystem::path& file, const ModelOptions& options);

  [[nodiscard]] const DescriptionDraft& draft() const { return draft_; }
  /// Gives a tensor a role, and takes both from what had them; no role: it takes no part.
  void assign(const std::string& pattern, const std::string& role);
  /// Takes its role away.
  void clear_role(const std::string& pattern);
  /// Writes the description and opens the model with it. False: it could not be written, which is
  /// said.
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
  void say(QLabel& label, const QString& words, const char* role);
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
