// The lens's own controls, drawn with Dear ImGui in the style of the window.
#pragma once

#include <functional>
#include <imgui.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"

namespace attnscope::lens {

[[nodiscard]] ImVec4 to_vector(const QColor& colour, float alpha = 1);
[[nodiscard]] ImU32 to_packed(const QColor& colour, float alpha = 1);

/// Sets sizes and colours of the current context's style. `ratio`: device pixels per logical pixel.
void set_style(const WindowColours& colours, float ratio);

/// Draws the outline of a rectangle.
void outline(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 colour, float rounding,
             float thickness);

/// The widths of a row of choices that fills `width`: what their titles need and equal shares of
/// the rest.
[[nodiscard]] std::vector<float> segment_widths(std::span<const char* const> titles, float width);

/// A row of exclusive choices that fills the line; returns the new choice if another was clicked.
std::optional<int> segments(const char* name, std::span<const char* const> titles, int chosen,
                            const WindowColours& colours, float ratio);

/// Explains the last item while the cursor is over it, in lines that fit the display.
void hint(const char* text);

/// A small button with a drawn icon; true if it was clicked.
enum class Sign { chevron_down, chevron_up, swap };
bool sign_button(const char* name, Sign sign, bool lit, const WindowColours& colours, float size);

/// A list of colour maps, each shown as its strip; returns the new one if another was chosen.
/// `drawn` is called for each line of the open list while that line is the last item.
std::optional<std::string_view> colour_map_list(const char* name, std::string_view chosen,
                                                bool reversed, float width,
                                                const WindowColours& colours, float ratio,
                                                const std::function<void(std::string_view)>& drawn);

}  // namespace attnscope::lens
