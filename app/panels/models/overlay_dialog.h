// Dialog that chooses the mechanism and its parameters for an overlay.
#pragma once

#include <QDialog>
#include <map>
#include <string>

#include "core/model/subject.h"

class QComboBox;
class QFormLayout;
class QLabel;

namespace attnscope {

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
