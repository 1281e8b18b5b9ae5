// How the window looks: two sets of colours, one type face, one style sheet.
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QString>
#include <cstdint>

class QApplication;
class QWidget;

namespace attnscope {

enum class Theme { dark, light };

/// Every colour the window draws with. Text on its ground has a contrast of at least 4.5.
struct WindowColours {
  Theme theme;
  QColor window;  ///< behind everything
  QColor panel;   ///< docks
  QColor raised;  ///< cards, buttons
  QColor sunken;  ///< fields, plots
  QColor border;
  QColor text, muted;
  QColor accent, on_accent;
  QColor selected;  ///< ground of the selected row or card
  QColor warning, error, ready;
};

[[nodiscard]] const WindowColours& colours_of(Theme theme);
/// The colours of the theme that `widget` is shown in.
[[nodiscard]] const WindowColours& colours_of(const QWidget& widget);

struct Look {
  Theme theme = Theme::dark;
  double text_scale = 1;
  bool high_contrast = false;
};

/// Letters of the window in points, at a text scale of 1.
inline constexpr double usual_font_pt = 9.5;
/// How much larger than usual the letters of a font are: what is drawn beside them grows as much.
[[nodiscard]] double text_scale_of(const QFont& font);

/// Sets style, palette, font and style sheet of the whole program.
void apply_theme(QApplication& application, const Look& look);

/// Makes the files of assets/ known to Qt; apply_theme has done so.
void load_assets();

/// The colour of subject `index` (0 is key 1): the one its curves have in figures.
[[nodiscard]] QColor subject_colour(std::int64_t index, Theme theme);

/// Figures in columns: digits of one width.
[[nodiscard]] QFont number_font(const QFont& base);

/// One of assets/icons in this colour.
[[nodiscard]] QIcon tinted_icon(const QString& name, const QColor& colour);

}  // namespace attnscope
