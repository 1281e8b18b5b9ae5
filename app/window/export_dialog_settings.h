// Controls of the export dialog for the appearance of a figure.
#pragma once

#include <QSizeF>
#include <QWidget>

#include "analysis/figure/style.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFontComboBox;

namespace attnscope {

/// A list of widths of journals, conferences and slides, each with its QSizeF in mm; a height of 0
/// is the figure's own. The first entry is any other width, with an empty size.
[[nodiscard]] QComboBox* place_box();
/// Selects the entry of this size.
void show_place_of(const QSizeF& size_mm, QComboBox& place);

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
  void take_place();
  void show_place();

  QComboBox* place_;
  QDoubleSpinBox* width_;
  QDoubleSpinBox* height_;
  QFontComboBox* family_;
  QDoubleSpinBox* size_;
  QComboBox* colour_map_;
  QComboBox* lines_;
  QCheckBox* transparent_;
  QCheckBox* letters_;
  QCheckBox* shared_legend_;
};

}  // namespace attnscope
