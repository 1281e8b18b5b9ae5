// Fields of the open lens, in order: how they show the view, and how clicks change it.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <imgui.h>
#include <span>

#include "app/canvas/lens.h"
#include "app/canvas/lens_controls.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

void Lens::field(const char* title, float ratio) {
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", title);
  ImGui::SameLine(58 * ratio);
}

void Lens::range_list(const Input& input, ViewSettings& view, bool wanted) {
  if (wanted || ImGui::IsItemClicked(ImGuiMouseButton_Right)) {
    range_choices_ = input.range_choices();
    ImGui::OpenPopup("ranges");
  }
  if (!ImGui::BeginPopup("ranges")) return;
  const bool by_hand = view.range_minimum.has_value() || view.range_maximum.has_value();
  const auto automatic = [&](const char* title, const char* name, bool chosen) {
    const bool clicked = ImGui::Selectable(title, chosen && !by_hand);
    if (clicked) {
      view.range_minimum.reset();
      view.range_maximum.reset();
    }
    noted(std::string("range/") + name);
    return clicked;
  };
  if (automatic("one for all maps", "shared", !view.range_of_each_map)) {
    view.range_of_each_map = false;
  }
  if (automatic("each map its own", "each", view.range_of_each_map)) {
    view.range_of_each_map = true;
  }
  ImGui::Separator();
  static constexpr std::array shares = {"to the 95th percentile", "to the 99th percentile",
                                        "to the 99.5th percentile", "to the 99.9th percentile",
                                        "to the greatest value"};
  static constexpr std::array names = {"95", "99", "99.5", "99.9", "100"};
  static_assert(shares.size() == std::size(range_shares) && names.size() == shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (automatic(shares[i], names[i], view.range_share == range_shares[i])) {
      view.range_share = range_shares[i];
    }
  }
  ImGui::Separator();
  for (const AtlasLink::RangeChoice& choice : range_choices_) {
    if (ImGui::Selectable(choice.title)) {
      view.range_minimum = choice.minimum;
      view.range_maximum = choice.maximum;
    }
    noted(std::string("range/") + choice.title);
  }
  ImGui::EndPopup();
}

void Lens::range_field(const Input& input, ViewSettings& view, float ratio, bool list_wanted) {
  const double full = input.full.maximum - input.full.minimum;
  auto minimum = static_cast<float>(input.range.minimum);
  auto maximum = static_cast<float>(input.range.maximum);
  const bool by_hand = view.range_minimum.has_value() || view.range_maximum.has_value();
  const float button = 42 * ratio, spacing = 4 * ratio;
  const float each = (ImGui::GetContentRegionAvail().x - button - 2 * spacing) / 2;
  const auto speed = static_cast<float>(std::max(1e-9, full / 400));
  // The histogram of values behind the fields, in the accent colour within the range.
  const ImVec2 low = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = 2 * each + spacing, height = ImGui::GetFrameHeight();
  const auto parts = static_cast<float>(std::max<std::size_t>(1, input.histogram.size()));
  for (std::size_t i = 0; i < input.histogram.size(); ++i) {
    const auto at = static_cast<float>(i);
    const double value = input.full.minimum + full * (static_cast<double>(i) + 0.5) / parts;
    const bool inside = value >= input.range.minimum && value <= input.range.maximum;
    const float top = low.y + height * (1 - input.histogram[i]);
    list.AddRectFilled(
        {low.x + width * at / parts, top}, {low.x + width * (at + 1) / parts, low.y + height},
        lens::to_packed(inside ? input.colours->accent : input.colours->muted, 0.3F));
  }
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4(0, 0, 0, 0));
  ImGui::SetNextItemWidth(each);
  if (ImGui::DragFloat("##minimum", &minimum, speed, 0, 0, "%.3g")) {
    view.range_minimum = std::min(minimum, maximum);
  }
  noted("range/minimum");
  ImGui::SameLine(0, spacing);
  ImGui::SetNextItemWidth(each);
  if (ImGui::DragFloat("##maximum", &maximum, speed, 0, 0, "%.3g")) {
    view.range_maximum = std::max(minimum, maximum);
  }
  noted("range/maximum");
  ImGui::PopStyleColor();
  ImGui::SameLine(0, spacing);
  // One button switches the range: per map to shared, shared to full, manual to automatic.
  const bool own = view.range_of_each_map && !by_hand;
  if (ImGui::Button(by_hand ? "auto##range" : own ? "each##range" : "full##range", {button, 0})) {
    if (by_hand) {
      view.range_minimum.reset();
      view.range_maximum.reset();
    } else if (own) {
      view.range_of_each_map = false;
    } else if (full > 0) {
      view.range_minimum = input.full.minimum;
      view.range_maximum = input.full.maximum;
    }
  }
  noted("range/auto");
  range_list(input, view, list_wanted);
}

void Lens::contents(const Input& input, ViewSettings& view) {
  const auto ratio = static_cast<float>(input.pixel_ratio);
  const WindowColours& colours = *input.colours;
  const float size = ImGui::GetFrameHeight();

  const auto segmented = [&](const char* name, std::span<const char* const> titles, int chosen) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x / static_cast<float>(titles.size());
    for (std::size_t i = 0; i < titles.size(); ++i) {
      controls_[std::string(name) + "/" + lower(titles[i])] =
          QRectF((low.x + width * static_cast<float>(i)) / ratio, low.y / ratio, width / ratio,
                 size / ratio);
    }
    return lens::segments(name, titles, chosen, colours, ratio);
  };

  field("Colours", ratio);
  const float list_width = ImGui::GetContentRegionAvail().x - size - 4 * ratio;
  const auto line_drawn = [this](std::string_view map) { noted("colours/" + std::string(map)); };
  if (const auto chosen = lens::colour_map_list("colours", view.colour_map, view.reversed_colours,
                                                list_width, colours, ratio, line_drawn)) {
    view.colour_map = *chosen;
  }
  noted("colours");
  ImGui::SameLine(0, 4 * ratio);
  if (lens::sign_button("reverse", lens::Sign::swap, view.reversed_colours, colours, size)) {
    view.reversed_colours = !view.reversed_colours;
  }
  noted("reverse");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("reverse the colours");

  static constexpr std::array norms = {"Linear", "Log", "Symlog"};
  field("Scale", ratio);
  if (const auto chosen = segmented("scale", norms, static_cast<int>(view.norm))) {
    view.norm = static_cast<ScaleNorm>(*chosen);
  }

  field("Range", ratio);
  noted("range/list");
  const bool list_wanted = ImGui::IsItemClicked();
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("each map its own, percentiles, fixed ranges");
  range_field(input, view, ratio, list_wanted);

  field("Temp.", ratio);
  auto temperature = static_cast<float>(view.temperature);
  const float number = 42 * ratio, gap = 4 * ratio;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - number - gap);
  if (ImGui::SliderFloat("##temperature", &temperature, 0.1F, 10, "",
                         ImGuiSliderFlags_Logarithmic)) {
    // The temperature snaps to 1, so that the unchanged maps are easy to find again.
    view.temperature =
        std::abs(std::log(temperature)) < 0.05F ? 1.0 : static_cast<double>(temperature);
  }
  noted("temperature");
  if (ImGui::IsItemHovered()) {
    ImGui::SetTooltip("weights to the power 1/T, rows scaled back to their sum");
  }
  ImGui::SameLine(0, gap);
  const std::string shown = fixed_text(view.temperature, 2) + "##reset";
  if (ImGui::Button(shown.c_str(), {number, 0})) view.temperature = 1;
  noted("temperature/reset");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("back to 1: as the model has it");

  static constexpr std::array identities = {"As is", "A", "A + I"};
  field("Identity", ratio);
  if (const auto chosen = segmented("identity", identities, static_cast<int>(view.identity))) {
    view.identity = static_cast<IdentityView>(*chosen);
  }

  static constexpr std::array fusions = {"Each", "Mean", "Max", "Min"};
  field("Heads", ratio);
  if (const auto chosen = segmented("heads", fusions, static_cast<int>(view.head_fusion))) {
    view.head_fusion = static_cast<HeadFusion>(*chosen);
  }

  field("Rank", ratio);
  const int greatest = static_cast<int>(std::max<std::int64_t>(input.greatest_rank, 2));
  int rank = view.shown_rank == 0
                 ? greatest
                 : static_cast<int>(std::min<std::int64_t>(view.shown_rank, greatest));
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - number - gap);
  if (ImGui::SliderInt("##rank", &rank, 1, greatest, view.shown_rank == 0 ? "whole" : "%d",
                       ImGuiSliderFlags_Logarithmic)) {
    view.shown_rank = rank >= greatest ? 0 : rank;
  }
  noted("rank");
  if (ImGui::IsItemHovered()) {
    ImGui::SetTooltip("each map's best approximation of this rank, without I");
  }
  ImGui::SameLine(0, gap);
  if (ImGui::Button(view.shows_rest ? "A-Ar##rest" : "Ar##rest", {number, 0})) {
    view.shows_rest = !view.shows_rest;
  }
  noted("rest");
  if (ImGui::IsItemHovered()) {
    ImGui::SetTooltip(view.shows_rest ? "shown: what the rank leaves, A - Ar"
                                      : "shown: what the rank keeps, Ar");
  }

  static constexpr std::array shown_or_not = {"Shown", "Hidden"};
  field("Special", ratio);
  if (const auto chosen = segmented("class", shown_or_not, view.hide_prefix_tokens ? 1 : 0)) {
    view.hide_prefix_tokens = *chosen == 1;
  }
}

}  // namespace attnscope
