// Appearance of the window: two sets of colours, one typeface, one style sheet.
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

/// All colours of the window. Text has a contrast of at least 4.5 to its background.
struct WindowColours {
  Theme theme;
  QColor window;  ///< background of everything
  QColor panel;   ///< background of docks
  QColor raised;  ///< background of cards and buttons
  QColor sunken;  ///< background of fields and plots
  QColor border;
  QColor text, muted;
  QColor accent, on_accent;
  QColor selected;  ///< background of the selected row or card
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

/// Default font size of the window in points, at a text scale of 1.
inline constexpr double usual_font_pt = 9.5;
/// The font's size relative to the default; elements next to text scale by the same factor.
[[nodiscard]] double text_scale_of(const QFont& font);

/// Sets style, palette, font and style sheet of the whole program.
void apply_theme(QApplication& application, const Look& look);

/// Registers the files of assets/ with Qt; apply_theme calls this too.
void load_assets();

/// The colour of subject `index` (0 is key 1), the same as for its curves in figures.
[[nodiscard]] QColor subject_colour(std::int64_t index, Theme theme);

/// A font for columns of numbers, with digits of equal width.
[[nodiscard]] QFont number_font(const QFont& base);

/// An icon of assets/icons in this colour.
[[nodiscard]] QIcon tinted_icon(const QString& name, const QColor& colour);

/// Styles `widget` as "muted", "error", "warning" or "heading" (see window.qss), or plainly for any
/// other role; an earlier role is replaced.
void set_role(QWidget* widget, const char* role);

}  // namespace attnscope
