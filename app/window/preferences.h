// The user's preferences, remembered between runs.
#pragma once

#include <QDialog>
#include <string>

#include "analysis/spectrum/rank.h"
#include "app/look/theme.h"

class QCheckBox;
class QComboBox;

namespace attnscope {

class NumberSlider;

struct Preferences {
  Theme theme = Theme::dark;
  double text_scale = 1;  ///< 0.8 to 2
  std::string colour_map = "viridis";
  RankThreshold rank_threshold = {};  ///< initial value of new sessions
  bool layers_from_one = false;       ///< figures number layers from 1 instead of 0
  bool reopen = false;                ///< reopen the last session when the program starts
};

[[nodiscard]] Preferences read_preferences();
void write_preferences(const Preferences& preferences);

class PreferencesDialog : public QDialog {
  Q_OBJECT
 public:
  PreferencesDialog(const Preferences& preferences, QWidget* parent);
  [[nodiscard]] Preferences preferences() const;

 private:
  QComboBox* theme_;
  NumberSlider* text_scale_;
  QComboBox* colour_map_;
  NumberSlider* threshold_;
  QComboBox* share_;
  QCheckBox* layers_from_one_;
  QCheckBox* reopen_;
};

}  // namespace attnscope
