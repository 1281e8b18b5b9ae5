// Controls of the export dialog for the appearance of a figure.
#pragma once

#include <QWidget>

#include "analysis/figure/style.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFontComboBox;
class QToolButton;

namespace attnscope {

struct FigureLook {
  double width_mm = 84, font_size_pt = 0;
  FigureStyle style;
  bool transparent = false;
};

/// Width, font, colours, lines and background. Remembers the last choices in the program's
/// settings.
class FigureLookForm : public QWidget {
  Q_OBJECT
 public:
  explicit FigureLookForm(QWidget* parent = nullptr);

  /// Font size and family are absent if the figure's own apply.
  [[nodiscard]] FigureLook look() const;
  void remember() const;

 signals:
  void changed();

 private:
  void take_preset(double width_mm, double height_mm);
  void show_preset();

  QDoubleSpinBox* width_;
  QDoubleSpinBox* height_;
  QList<QToolButton*> presets_;
  QFontComboBox* family_;
  QDoubleSpinBox* size_;
  QComboBox* colour_map_;
  QComboBox* lines_;
  QCheckBox* transparent_;
  QCheckBox* letters_;
  QCheckBox* shared_legend_;
};

}  // namespace attnscope
