// A few tokens in the plane, and the map of every mechanism for them.
#pragma once

#include <QWidget>
#include <random>
#include <string>
#include <vector>

#include "core/attention/mechanism.h"

class QBoxLayout;
class QCheckBox;
class QGridLayout;

namespace attnscope {

class MapThumbnail;
class NumberSlider;
class PlaneView;
struct PlaneTokens;

class PlaygroundView : public QWidget {
  Q_OBJECT
 public:
  /// `shown`: names of mechanisms; empty: all of mechanisms(). `tokens` is 2 to 12.
  explicit PlaygroundView(const std::vector<std::string>& shown = {}, int tokens = 6,
                          bool tied = false, QWidget* parent = nullptr);

  [[nodiscard]] PlaneView& plane() { return *plane_; }
  /// Replaces the tokens by 2 to 12 others, each with its own key, at these positions.
  void take_tokens(PlaneTokens tokens);
  /// The current map of a mechanism. Throws Error if the mechanism is not shown.
  [[nodiscard]] const Matrix& map_of(const std::string& mechanism) const;
  /// The width of one map; the number of maps per row follows the width.
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Shown {
    MechanismChoice choice;
    MapThumbnail* thumbnail;
  };
  void scatter();
  void follow();
  void arrange();

  QBoxLayout* halves_;  ///< plane with controls; maps below it or next to it
  PlaneView* plane_;
  NumberSlider* count_;
  NumberSlider* scale_;
  QCheckBox* tied_;
  QWidget* maps_;
  QGridLayout* grid_;
  std::vector<Shown> shown_;
  std::mt19937 random_{1};  // same positions at every start
};

/// The mechanism with parameters that fit few tokens: integers of at most half their number.
[[nodiscard]] MechanismChoice small_choice(const MechanismEntry& entry, std::int64_t tokens);

}  // namespace attnscope
