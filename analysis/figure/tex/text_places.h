// Where texts inside a panel cover least: of curves, of drop lines, of each other.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

/// A text's place in a frame, in mm from its lower left corner.
struct TextPlace {
  double left = 0, bottom = 0, width = 0, height = 0;
};

class TextPlaces {
 public:
  /// Of a frame so large, with type of this size; all in mm.
  TextPlaces(double width, double height, double type)
      : width_(width), height_(height), type_(type) {}

  struct Point {
    double x = 0, y = 0;
  };
  /// A straight line that texts are better not over; none where a coordinate is no number.
  void avoid(const Point& from, const Point& to);

  /// Above or below the height `y`, anywhere along it; taken from then on.
  [[nodiscard]] TextPlace along(const std::string& text, double y);
  /// At the right or left of `x`, on the lowest free level; taken from then on.
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
