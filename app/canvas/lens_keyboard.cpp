#include "app/canvas/lens_keyboard.h"

#include <QObject>
#include <algorithm>
#include <cmath>

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

/// The temperature one step of 10 % up or down, clamped to 0.1 … 10; a step never skips 1.
double next_temperature(double temperature, int step) {
  const double next = temperature * std::pow(1.1, step);
  const bool crosses = (temperature - 1) * (next - 1) < 0 || std::abs(next - 1) < 0.03;
  return crosses ? 1 : std::clamp(next, 0.1, 10.0);
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
    case LensField::range_minimum:
      return "range/minimum";
    case LensField::range_maximum:
      return "range/maximum";
    case LensField::temperature:
      return "temperature";
    case LensField::identity:
      return "identity";
    case LensField::heads:
      return "heads";
    case LensField::rank:
      return "rank";
    case LensField::rest:
      return "rest";
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
    case LensField::range_minimum:
      result.range_minimum = std::min(range.minimum + amount, range.maximum);
      break;
    case LensField::range_maximum:
      result.range_maximum = std::max(range.maximum + amount, range.minimum);
      break;
    case LensField::temperature:
      result.temperature = next_temperature(view.temperature, step);
      break;
    case LensField::identity:
      result.identity = next_of(view.identity, 3, step);
      break;
    case LensField::heads:
      result.head_fusion = next_of(view.head_fusion, 4, step);
      break;
    case LensField::rank:
      result.shown_rank = std::max<std::int64_t>(view.shown_rank + step, 0);
      break;
    case LensField::rest:
      result.shows_rest = !view.shows_rest;
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
    case LensField::temperature:
      result.temperature = 1;
      return result;
    case LensField::rank:
      result.shown_rank = 0;
      return result;
    default:
      return stepped(view, field, 1, range, full);
  }
}

QString described(const ViewSettings& view, LensField field, const ValueRange& range) {
  constexpr const char* norms[] = {"linear", "logarithmic", "symmetric logarithmic"};
  constexpr const char* identities[] = {"as is", "without I", "with I"};
  constexpr const char* fusions[] = {"each by itself", "mean", "maximum", "minimum"};
  switch (field) {
    case LensField::colours:
      return QObject::tr("Colour map: %1").arg(QString::fromStdString(view.colour_map));
    case LensField::reverse:
      return view.reversed_colours ? QObject::tr("Colours reversed")
                                   : QObject::tr("Colours not reversed");
    case LensField::scale:
      return QObject::tr("Scale: %1").arg(norms[static_cast<std::size_t>(view.norm)]);
    case LensField::range_minimum:
      return QObject::tr("Least value of the range: %1").arg(range.minimum, 0, 'g', 3);
    case LensField::range_maximum:
      return QObject::tr("Greatest value of the range: %1").arg(range.maximum, 0, 'g', 3);
    case LensField::temperature:
      return QObject::tr("Temperature: %1").arg(view.temperature, 0, 'f', 2);
    case LensField::identity:
      return QObject::tr("Identity mapping: %1")
          .arg(identities[static_cast<std::size_t>(view.identity)]);
    case LensField::heads:
      return QObject::tr("Heads: %1").arg(fusions[static_cast<std::size_t>(view.head_fusion)]);
    case LensField::rank:
      return view.shown_rank == 0 ? QObject::tr("Rank: maps as they are")
                                  : QObject::tr("Rank: %1").arg(view.shown_rank);
    case LensField::rest:
      return view.shows_rest ? QObject::tr("The remainder A − A_r is shown")
                             : QObject::tr("The truncated map A_r is shown");
    case LensField::prefix_tokens:
      return view.hide_prefix_tokens ? QObject::tr("Special tokens hidden")
                                     : QObject::tr("Special tokens shown");
  }
  return {};
}

}  // namespace attnscope
