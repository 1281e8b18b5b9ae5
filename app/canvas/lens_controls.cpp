#include "app/canvas/lens_controls.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace attnscope::lens {

namespace {

void draw_strip(ImDrawList& list, ImVec2 low, ImVec2 high, const ColourMap& map, bool reversed) {
  constexpr int parts = 24;
  const auto packed = [&](double fraction) {
    const Colour c = colour_at(map, fraction, reversed);
    return IM_COL32(c.red, c.green, c.blue, 255);
  };
  for (int i = 0; i < parts; ++i) {
    const auto x = [&](int part) {
      return low.x + (high.x - low.x) * static_cast<float>(part) / static_cast<float>(parts);
    };
    const ImU32 left = packed(i / static_cast<double>(parts));
    const ImU32 right = packed((i + 1) / static_cast<double>(parts));
    list.AddRectFilledMultiColor({x(i), low.y}, {x(i + 1), high.y}, left, right, right, left);
  }
}

}  // namespace

ImVec4 to_vector(const QColor& colour, float alpha) {
  return {static_cast<float>(colour.redF()), static_cast<float>(colour.greenF()),
          static_cast<float>(colour.blueF()), static_cast<float>(colour.alphaF()) * alpha};
}

ImU32 to_packed(const QColor& colour, float alpha) {
  return ImGui::ColorConvertFloat4ToU32(to_vector(colour, alpha));
}

void set_style(const WindowColours& colours, float ratio) {
  ImGuiStyle style;
  style.WindowPadding = {12, 8};
  style.WindowRounding = 8;
  style.WindowBorderSize = 1;
  style.WindowMinSize = {16, 16};
  style.PopupRounding = 6;
  style.PopupBorderSize = 1;
  style.FramePadding = {8, 3};
  style.FrameRounding = 5;
  style.FrameBorderSize = 1;
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4};
  style.GrabMinSize = 10;
  style.GrabRounding = 5;
  style.ScaleAllSizes(ratio);
  style.WindowBorderSize = style.PopupBorderSize = style.FrameBorderSize = std::max(1.0F, ratio);
  style.AntiAliasedLinesUseTex = false;
  const QColor& field = colours.sunken;
  ImVec4* c = style.Colors;
  c[ImGuiCol_Text] = to_vector(colours.text);
  c[ImGuiCol_TextDisabled] = to_vector(colours.muted);
  c[ImGuiCol_WindowBg] = to_vector(colours.panel, 0.97F);
  c[ImGuiCol_PopupBg] = to_vector(colours.raised);
  c[ImGuiCol_Border] = to_vector(colours.border);
  c[ImGuiCol_FrameBg] = to_vector(field);
  c[ImGuiCol_FrameBgHovered] = to_vector(colours.raised);
  c[ImGuiCol_FrameBgActive] = to_vector(colours.selected);
  c[ImGuiCol_Button] = to_vector(colours.raised);
  c[ImGuiCol_ButtonHovered] = to_vector(colours.selected);
  c[ImGuiCol_ButtonActive] = to_vector(colours.border);
  c[ImGuiCol_Header] = to_vector(colours.selected);
  c[ImGuiCol_HeaderHovered] = to_vector(colours.selected);
  c[ImGuiCol_HeaderActive] = to_vector(colours.border);
  c[ImGuiCol_SliderGrab] = to_vector(colours.accent);
  c[ImGuiCol_SliderGrabActive] = to_vector(colours.accent);
  c[ImGuiCol_TextSelectedBg] = to_vector(colours.accent, 0.35F);
  ImGui::GetStyle() = style;
}

void outline(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 colour, float rounding,
             float thickness) {
#if IMGUI_VERSION_NUM >= 19280  // thickness before flags
  list.AddRect(low, high, colour, rounding, thickness);
#else
  list.AddRect(low, high, colour, rounding, 0, thickness);
#endif
}

std::vector<float> segment_widths(std::span<const char* const> titles, float width) {
  std::vector<float> widths;
  float needed = 0;
  for (const char* title : titles) {
    widths.push_back(ImGui::CalcTextSize(title).x);
    needed += widths.back();
  }
  const float share = (width - needed) / static_cast<float>(titles.size());
  for (float& one : widths) one = share > 0 ? one + share : one * width / needed;
  return widths;
}

void hint(const char* text) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(std::min(20 * ImGui::GetFontSize(), 0.85F * ImGui::GetIO().DisplaySize.x));
  ImGui::TextUnformatted(text);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

std::optional<int> segments(const char* name, std::span<const char* const> titles, int chosen,
                            const WindowColours& colours, float ratio) {
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetFrameHeight();
  const ImVec2 low = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float rounding = ImGui::GetStyle().FrameRounding;
  list.AddRectFilled(low, {low.x + width, low.y + height}, to_packed(colours.sunken), rounding);
  std::optional<int> clicked;
  const std::vector<float> widths = segment_widths(titles, width);
  float left = low.x;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const float each = widths[i];
    const ImVec2 from(left, low.y), to(left + each, low.y + height);
    left += each;
    ImGui::SetCursorScreenPos(from);
    const std::string id = std::string(name) + "/" + titles[i];
    if (ImGui::InvisibleButton(id.c_str(), {each, height})) clicked = static_cast<int>(i);
    const bool on = static_cast<int>(i) == chosen;
    const float inset = 2 * ratio;
    const ImVec2 inner_low(from.x + inset, from.y + inset), inner_high(to.x - inset, to.y - inset);
    if (on) {
      list.AddRectFilled(inner_low, inner_high, to_packed(colours.accent), rounding - 1);
    } else if (ImGui::IsItemHovered()) {
      list.AddRectFilled(inner_low, inner_high, to_packed(colours.selected), rounding - 1);
    }
    const ImVec2 size = ImGui::CalcTextSize(titles[i]);
    list.PushClipRect(from, to, true);
    list.AddText(
        {std::round(from.x + (each - size.x) / 2), std::round(from.y + (height - size.y) / 2)},
        to_packed(on ? colours.on_accent : colours.text), titles[i]);
    list.PopClipRect();
  }
  outline(list, low, {low.x + width, low.y + height}, to_packed(colours.border), rounding,
          std::max(1.0F, ratio));
  return clicked == chosen ? std::nullopt : clicked;
}

bool sign_button(const char* name, Sign sign, bool lit, const WindowColours& colours, float size) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton(name, {size, size});
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 high(low.x + size, low.y + size);
  if (lit || hovered) {
    list.AddRectFilled(low, high, to_packed(lit ? colours.accent : colours.selected),
                       ImGui::GetStyle().FrameRounding);
  }
  const ImU32 ink = to_packed(lit ? colours.on_accent : colours.text);
  const ImVec2 middle(low.x + size / 2, low.y + size / 2);
  const float u = size / 20, thick = std::max(1.0F, 1.5F * u);
  if (sign == Sign::swap) {
    for (const float side : {-1.0F, 1.0F}) {
      const float y = middle.y + side * 3 * u, tip = middle.x + side * 5 * u;
      list.AddLine({middle.x - side * 5 * u, y}, {tip, y}, ink, thick);
      list.AddLine({tip - side * 3 * u, y - 2.5F * u}, {tip, y}, ink, thick);
      list.AddLine({tip - side * 3 * u, y + 2.5F * u}, {tip, y}, ink, thick);
    }
  } else {
    const float way = sign == Sign::chevron_down ? 1.0F : -1.0F;
    const ImVec2 points[] = {{middle.x - 4.5F * u, middle.y - way * 2.2F * u},
                             {middle.x, middle.y + way * 2.2F * u},
                             {middle.x + 4.5F * u, middle.y - way * 2.2F * u}};
#if IMGUI_VERSION_NUM >= 19280  // thickness before flags
    list.AddPolyline(points, 3, ink, thick);
#else
    list.AddPolyline(points, 3, ink, 0, thick);
#endif
  }
  return clicked;
}

std::optional<std::string_view> colour_map_list(
    const char* name, std::string_view chosen, bool reversed, float width,
    const WindowColours& colours, float ratio, const std::function<void(std::string_view)>& drawn) {
  std::optional<std::string_view> result;
  const float height = ImGui::GetFrameHeight();
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ColourMap& now = find_colour_map(chosen);
  if (ImGui::InvisibleButton(name, {width, height})) ImGui::OpenPopup(name);
  const bool lit = ImGui::IsItemHovered() || ImGui::IsPopupOpen(name);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 high(low.x + width, low.y + height);
  const float inset = 4 * ratio;
  list.AddRectFilled(low, high, to_packed(colours.sunken), ImGui::GetStyle().FrameRounding);
  const std::string title(now.title);
  const float title_width = ImGui::CalcTextSize(title.c_str()).x;
  const float strip_right = std::max(low.x + 24 * ratio, high.x - title_width - 14 * ratio);
  draw_strip(list, {low.x + inset, low.y + inset}, {strip_right, high.y - inset}, now, reversed);
  list.PushClipRect(low, high, true);
  list.AddText({strip_right + 7 * ratio, low.y + ImGui::GetStyle().FramePadding.y},
               to_packed(colours.text), title.c_str());
  list.PopClipRect();
  outline(list, low, high, to_packed(lit ? colours.accent : colours.border),
          ImGui::GetStyle().FrameRounding, std::max(1.0F, ratio));
  ImGui::SetNextWindowPos({low.x, high.y + 3 * ratio});
  if (ImGui::BeginPopup(name)) {
    const float row_width =
        std::min(std::max(width, 190 * ratio),
                 ImGui::GetIO().DisplaySize.x - 2 * ImGui::GetStyle().WindowPadding.x);
    const float strip_width = std::min(80 * ratio, 0.4F * row_width);
    for (const ColourMap& map : colour_maps()) {
      const std::string row_title(map.title);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      if (ImGui::Selectable(("##" + row_title).c_str(), map.name == chosen, 0,
                            {row_width, height - 4 * ratio})) {
        result = map.name;
      }
      drawn(map.name);
      ImDrawList& rows = *ImGui::GetWindowDrawList();
      draw_strip(rows, {at.x + 2 * ratio, at.y + 3 * ratio},
                 {at.x + strip_width, at.y + height - 7 * ratio}, map, reversed);
      rows.AddText({at.x + strip_width + 10 * ratio, at.y + 1 * ratio}, to_packed(colours.text),
                   row_title.c_str());
    }
    ImGui::EndPopup();
  }
  return result;
}

}  // namespace attnscope::lens
