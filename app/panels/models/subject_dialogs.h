// Dialogs about one open model: its name, its options, its tensors, and an overlay on it.
#pragma once

#include <QDialog>
#include <map>
#include <string>

#include "app/session/session.h"
#include "app/session/subject_id.h"
#include "core/model/subject.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QWidget;

namespace attnscope {

/// Asks for the model's name in the window and in figures. An empty answer restores its own name.
void ask_for_name(QWidget* parent, Session& session, SubjectId subject);

/// Asks for the options to read and run its file with; the file is reloaded if they change.
void ask_for_options(QWidget* parent, Session& session, SubjectId subject);

/// Asks for the roles of its file's tensors in the window's only role editor. True if the editor is
/// open; otherwise the error is reported with Session::failed.
bool ask_for_roles(QWidget* parent, Session& session, SubjectId subject);

/// Dialog for properties that a model's file does not specify, with the reason for each assumption.
class ModelDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ModelDialog(const OpenSubject& subject, QWidget* parent = nullptr);
  /// The options in the fields: earlier overrides, and every field that was changed.
  [[nodiscard]] ModelOptions options() const;

 private:
  struct Field {
    QWidget* editor;
    std::string shown;  ///< text when the dialog opened
  };

  ModelOptions before_;
  std::map<std::string, Field> fields_;
  QLineEdit* description_;
};

/// Dialog that chooses the mechanism and its parameters for an overlay.
class OverlayDialog : public QDialog {
  Q_OBJECT
 public:
  explicit OverlayDialog(const Subject& subject, QWidget* parent = nullptr);
  [[nodiscard]] MechanismChoice mechanism() const;

 private:
  void show_parameters();

  QComboBox* name_;
  QLabel* source_;
  QFormLayout* parameters_;
  std::map<std::string, QWidget*> editors_;
};

}  // namespace attnscope
