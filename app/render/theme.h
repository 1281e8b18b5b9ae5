// Colours of a figure: one set for paper, one for a dark window.
#pragma once

#include <QColor>

#include "analysis/figure/figure.h"
#include "app/render/render.h"

namespace attnscope {

struct ThemeColours {
  QColor background, text, axis, faint;  ///< faint: drop lines, frames of maps
};

[[nodiscard]] ThemeColours colours_of(FigureTheme theme);

/// A mark's colour in the theme: on a dark background, dark colours become light ones of the same
/// hue.
[[nodiscard]] QColor ink(const Colour& colour, FigureTheme theme);

}  // namespace attnscope
