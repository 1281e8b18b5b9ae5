#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/figure/text_export.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

std::string hex(const Colour& colour) {
  std::array<char, 10> text{};
  if (colour.alpha == 255) {
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour.red, colour.green, colour.blue);
  } else {
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x%02x", colour.red, colour.green,
                  colour.blue, colour.alpha);
  }
  return text.data();
}

constexpr EnumName<LineStyle> line_style_names[] = {{LineStyle::none, "none"},
                                                    {LineStyle::solid, "solid"},
                                                    {LineStyle::dashed, "dashed"},
                                                    {LineStyle::dotted, "dotted"},
                                                    {LineStyle::dash_dotted, "dash_dotted"}};
constexpr EnumName<MarkerShape> marker_names[] = {
    {MarkerShape::none, "none"},       {MarkerShape::circle, "circle"},
    {MarkerShape::square, "square"},   {MarkerShape::triangle, "triangle"},
    {MarkerShape::diamond, "diamond"}, {MarkerShape::cross, "cross"}};
/// Names of all legend positions; legend_names has only the choices of the setting.
constexpr EnumName<LegendPosition> legend_place_names[] = {
    {LegendPosition::none, "none"},
    {LegendPosition::top_left, "top_left"},
    {LegendPosition::top_right, "top_right"},
    {LegendPosition::bottom_left, "bottom_left"},
    {LegendPosition::bottom_right, "bottom_right"},
    {LegendPosition::below, "below"}};

Json keys_as_json(const Keys& keys) {
  Json json = Json::object();
  for (const auto& [name, value] : keys) json[name] = value;
  return json;
}

struct MarkAsJson {
  Json operator()(const Line& line) const {
    return {{"kind", "line"},
            {"label", line.label},
            {"name", line.name},
            {"keys", keys_as_json(line.keys)},
            {"colour", hex(line.colour)},
            {"style", name_of(line_style_names, line.style)},
            {"marker", name_of(marker_names, line.marker)},
            {"width_pt", line.width_pt},
            {"x", line.x},
            {"y", line.y}};
  }
  Json operator()(const Band& band) const {
    return {{"kind", "band"},
            {"label", band.label},
            {"name", band.name},
            {"keys", keys_as_json(band.keys)},
            {"colour", hex(band.colour)},
            {"x", band.x},
            {"low", band.low},
            {"high", band.high}};
  }
  Json operator()(const PointMark& point) const {
    return {{"kind", "point"},
            {"text", point.text},
            {"keys", keys_as_json(point.keys)},
            {"colour", hex(point.colour)},
            {"drop_lines", point.drop_lines},
            {"x", point.x},
            {"y", point.y}};
  }
  Json operator()(const Rule& rule) const {
    return {{"kind", "rule"},
            {"text", rule.text},
            {"colour", hex(rule.colour)},
            {"style", name_of(line_style_names, rule.style)},
            {"vertical", rule.vertical},
            {"at", rule.at}};
  }
  Json operator()(const HeatMap& map) const {
    return {{"kind", "heat_map"},     {"keys", keys_as_json(map.keys)},   {"rows", map.rows},
            {"columns", map.columns}, {"colour_scale", map.colour_scale}, {"opacity", map.opacity},
            {"values", map.values}};
  }
  Json operator()(const Picture& picture) const {
    return {{"kind", "picture"},
            {"width", picture.image.width},
            {"height", picture.image.height},
            {"channels", picture.image.channels},
            {"pixels", picture.image.pixels}};
  }
  Json operator()(const Bars& bars) const {
    return {{"kind", "bars"},
            {"label", bars.label},
            {"keys", keys_as_json(bars.keys)},
            {"colour", hex(bars.colour)},
            {"width", bars.width},
            {"x", bars.x},
            {"heights", bars.heights}};
  }
  Json operator()(const TextMark& text) const {
    Json json = {{"kind", "text"}, {"text", text.text}, {"x", text.x}, {"y", text.y}};
    if (text.colour) json["colour"] = hex(*text.colour);
    if (text.align == TextAlign::start) json["align"] = "start";
    return json;
  }
};

Json axis_as_json(const Axis& axis) {
  Json json = {{"label", axis.label},
               {"minimum", axis.minimum ? Json(*axis.minimum) : Json()},
               {"maximum", axis.maximum ? Json(*axis.maximum) : Json()},
               {"logarithmic", axis.logarithmic},
               {"visible", axis.visible}};
  if (!axis.key.empty()) json["key"] = axis.key;
  if (axis.turned_ticks) json["turned_ticks"] = true;
  if (!axis.ticks.empty()) {
    json["ticks"] = Json::array();
    for (const Tick& tick : axis.ticks) {
      json["ticks"].push_back({{"value", tick.value}, {"label", tick.label}});
    }
  }
  return json;
}

Json panel_as_json(const Panel& panel) {
  Json marks = Json::array();
  for (const Mark& mark : panel.marks) marks.push_back(std::visit(MarkAsJson{}, mark));
  return {{"area", panel.area},
          {"row", panel.row},
          {"column", panel.column},
          {"title", panel.title},
          {"letter", panel.letter},
          {"keys", keys_as_json(panel.keys)},
          {"x", axis_as_json(panel.x)},
          {"y", axis_as_json(panel.y)},
          {"legend", name_of(legend_place_names, panel.legend)},
          {"square_cells", panel.square_cells},
          {"reversed_y", panel.reversed_y},
          {"marks", std::move(marks)}};
}

}  // namespace

std::string figure_as_json(const Figure& figure) {
  Json json = {{"name", figure.name},
               {"title", figure.title},
               {"caption", figure.caption},
               {"command", figure.command},
               {"models", figure.models},
               {"software", "attnscope " ATTNSCOPE_VERSION},
               {"width_mm", figure.width_mm},
               {"height_mm", figure.height_mm},
               {"font_family", figure.font_family},
               {"font_size_pt", figure.font_size_pt}};
  json["numbers"] = Json::object();
  for (const auto& [name, values] : figure.numbers) json["numbers"][name] = values;
  json["colour_scales"] = Json::array();
  for (const ColourScale& scale : figure.colour_scales) {
    json["colour_scales"].push_back({{"label", scale.label},
                                     {"colour_map", scale.colour_map},
                                     {"minimum", scale.minimum},
                                     {"maximum", scale.maximum},
                                     {"norm", name_of(scale_norm_names, scale.norm)},
                                     {"reversed", scale.reversed}});
  }
  json["shared_legend"] = figure.shared_legend;
  json["areas"] = Json::array();
  for (const FigureArea& area : figure.areas) {
    json["areas"].push_back({{"x_mm", area.x_mm},
                             {"y_mm", area.y_mm},
                             {"width_mm", area.width_mm},
                             {"height_mm", area.height_mm},
                             {"title", area.title}});
  }
  json["panels"] = Json::array();
  for (const Panel& panel : figure.panels) json["panels"].push_back(panel_as_json(panel));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
