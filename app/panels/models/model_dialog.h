// Dialog for properties that a model's file does not specify, with the reason for each assumption.
#pragma once

#include <QDialog>
#include <map>
#include <string>

#include "app/session/session.h"

class QLineEdit;
class QWidget;

namespace attnscope {

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

}  // namespace attnscope
