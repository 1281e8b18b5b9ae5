#include "app/canvas/lens_keyboard.h"

#include <QObject>
#include <algorithm>

#include "analysis/figure/colour_map.h"

namespace attnscope {

namespace {

template <class Choice>
Choice next_of(Choice choice, int count, int step) {
  return static_cast<Choice>((static_cast<int>(choice) + step + count) % count);
}

std::string next_colour_map(const std::string& name, int step) {
  const auto maps = colour_maps();
  const auto count = static_cast<int>(maps.size());
  int index = 0;
  for (int i = 0; i < count; ++i) {
    if (maps[static_cast<std::size_t>(i)].name == name) index = i;
  }
  return std::string(maps[static_cast<std::size_t>((index + step + count) % count)].name);
}

}  // namespace

std::string_view control_name(LensField field) {
  switch (field) {
    case LensField::colours:
      return "colours";
    case LensField::reverse:
      return "reverse";
    case LensField::scale:
      return "scale";
    case LensField::range_scope:
      return "range/list";
    case LensField::range_minimum:
      return "range/minimum";
    case LensField::range_maximum:
      return "range/maximum";
    case LensField::heads:
      return "heads";
    case LensField::prefix_tokens:
      return "class";
  }
  return {};
}

ViewSettings stepped(const ViewSettings& view, LensField field, int step, const ValueRange& range,
                     const ValueRange& full) {
  ViewSettings result = view;
  const double amount = step * (full.maximum - full.minimum) / 100;
  switch (field) {
    case LensField::colours:
      result.colour_map = next_colour_map(view.colour_map, step);
      break;
    case LensField::reverse:
      result.reversed_colours = !view.reversed_colours;
      break;
    case LensField::scale:
      result.norm = next_of(view.norm, 3, step);
      break;
    case LensField::range_scope:
      result.range_scope = next_of(view.range_scope, 3, step);
      break;
    case LensField::range_minimum:
      result.range_minimum = std::min(range.minimum + amount, range.maximum);
      break;
    case LensField::range_maximum:
      result.range_maximum = std::max(range.maximum + amount, range.minimum);
      break;
    case LensField::heads:
      result.head_fusion = next_of(view.head_fusion, 4, step);
      break;
    case LensField::prefix_tokens:
      result.hide_prefix_tokens = !view.hide_prefix_tokens;
      break;
  }
  return result;
}

ViewSettings pressed(const ViewSettings& view, LensField field, const ValueRange& range,
                     const ValueRange& full) {
  ViewSettings result = view;
  switch (field) {
    case LensField::range_minimum:
      result.range_minimum.reset();
      return result;
    case LensField::range_maximum:
      result.range_maximum.reset();
      return result;
    default:
      return stepped(view, field, 1, range, full);
  }
}

QString described(const ViewSettings& view, LensField field, const ValueRange& range) {
  constexpr const char* norms[] = {"linear", "logarithmic", "symmetric logarithmic"};
  constexpr const char* scopes[] = {"each model its own", "one for all models", "each map its own"};
  constexpr const char* fusions[] = {"each by itself", "mean", "maximum", "minimum"};
  switch (field) {
    case LensField::colours:
      return QObject::tr("Colour map: %1").arg(QString::fromStdString(view.colour_map));
    case LensField::reverse:
      return view.reversed_colours ? QObject::tr("Colours reversed")
                                   : QObject::tr("Colours not reversed");
    case LensField::scale:
      return QObject::tr("Scale: %1").arg(norms[static_cast<std::size_t>(view.norm)]);
    case LensField::range_scope:
      return QObject::tr("Colour range: %1")
          .arg(scopes[static_cast<std::size_t>(view.range_scope)]);
    case LensField::range_minimum:
      return QObject::tr("Least value of the range: %1").arg(range.minimum, 0, 'g', 3);
    case LensField::range_maximum:
      return QObject::tr("Greatest value of the range: %1").arg(range.maximum, 0, 'g', 3);
    case LensField::heads:
      return QObject::tr("Heads: %1").arg(fusions[static_cast<std::size_t>(view.head_fusion)]);
    case LensField::prefix_tokens:
      return view.hide_prefix_tokens ? QObject::tr("Special tokens hidden")
                                     : QObject::tr("Special tokens shown");
  }
  return {};
}

}  // namespace attnscope
