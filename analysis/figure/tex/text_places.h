// Places texts inside a panel with the least overlap with curves, drop lines and each other.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

/// Rectangle of a text in a frame, in mm from its lower left corner.
struct TextPlace {
  double left = 0, bottom = 0, width = 0, height = 0;
};

class TextPlaces {
 public:
  /// A frame of this width and height, with this font size; all in mm.
  TextPlaces(double width, double height, double type)
      : width_(width), height_(height), type_(type) {}

  struct Point {
    double x = 0, y = 0;
  };
  /// Adds a straight line that texts should not cover; ignored if a coordinate is NaN.
  void avoid(const Point& from, const Point& to);

  /// Places a text above or below the height `y`, anywhere along it, and reserves its rectangle.
  [[nodiscard]] TextPlace along(const std::string& text, double y);
  /// Places a text right or left of `x`, on the lowest free level, and reserves its rectangle.
  [[nodiscard]] TextPlace beside(const std::string& text, double x);

 private:
  struct Segment {
    Point from, to;
  };
  [[nodiscard]] double covered(const TextPlace& place) const;
  [[nodiscard]] TextPlace place_of(const std::string& text) const;

  double width_, height_, type_;
  std::vector<Segment> segments_;
  std::vector<TextPlace> taken_;
};

}  // namespace attnscope
