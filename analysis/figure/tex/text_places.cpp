#include "analysis/figure/tex/text_places.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/text_layout.h"

namespace attnscope {

namespace {

/// Liang–Barsky clipping: narrows [first, last] of a segment, 0 to 1, to where start + t · step is
/// between low and high; false if nothing remains.
bool remains(double start, double step, double low, double high, double& first, double& last) {
  if (step == 0) return start > low && start < high;
  const double a = (low - start) / step, b = (high - start) / step;
  first = std::max(first, std::min(a, b));
  last = std::min(last, std::max(a, b));
  return first < last;
}

}  // namespace

void TextPlaces::avoid(const Point& from, const Point& to) {
  if (std::isfinite(from.x + from.y + to.x + to.y)) segments_.push_back({from, to});
}

TextPlace TextPlaces::place_of(const std::string& text) const {
  return {0, 0, text_ems(text) * type_ + 0.6, 1.3 * type_};
}

double TextPlaces::covered(const TextPlace& place) const {
  const double right = place.left + place.width, top = place.bottom + place.height;
  double cost = 0;
  if (place.left < 0 || right > width_) cost += 100;
  if (place.bottom < 0 || top > height_) cost += 100;
  for (const TextPlace& other : taken_) {
    const bool meets = other.left < right && place.left < other.left + other.width &&
                       other.bottom < top && place.bottom < other.bottom + other.height;
    if (meets) cost += 50;
  }
  const auto lies_over = [&](const Segment& segment) {
    double first = 0, last = 1;
    return remains(segment.from.x, segment.to.x - segment.from.x, place.left + 0.2, right - 0.2,
                   first, last) &&
           remains(segment.from.y, segment.to.y - segment.from.y, place.bottom, top, first, last);
  };
  if (std::any_of(segments_.begin(), segments_.end(), lies_over)) cost += 6;
  return cost;
}

TextPlace TextPlaces::along(const std::string& text, double y) {
  constexpr int places = 16;
  double least = 1e9;
  TextPlace best;
  for (int i = 0; i < places; ++i) {
    for (const bool above : {true, false}) {
      TextPlace place = place_of(text);
      place.left = i * (width_ - place.width) / (places - 1);
      place.bottom = above ? y : y - place.height;
      const double cost = covered(place) + (above ? 0 : 0.5);
      if (cost < least) {
        least = cost;
        best = place;
      }
    }
  }
  taken_.push_back(best);
  return best;
}

TextPlace TextPlaces::beside(const std::string& text, double x) {
  double least = 1e9;
  TextPlace best;
  for (int level = 0; level < 6; ++level) {
    for (const bool right : {true, false}) {
      TextPlace place = place_of(text);
      place.left = right ? x : x - place.width;
      place.bottom = 0.3 + level * 1.05 * place.height;
      const double cost = covered(place) + level + (right ? 0 : 0.5);
      if (cost < least) {
        least = cost;
        best = place;
      }
    }
  }
  taken_.push_back(best);
  return best;
}

}  // namespace attnscope
