// A few tokens in the plane, and what every mechanism makes of them.
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
  /// `shown`: names of mechanisms, all of mechanisms() if empty. `tokens` from 2 to 12.
  explicit PlaygroundView(const std::vector<std::string>& shown = {}, int tokens = 6,
                          bool tied = false, QWidget* parent = nullptr);

  [[nodiscard]] PlaneView& plane() { return *plane_; }
  /// 2 to 12 tokens from elsewhere, each with its own key, at these places.
  void take_tokens(PlaneTokens tokens);
  /// The map a mechanism makes of the tokens now.
  [[nodiscard]] const Matrix& map_of(const std::string& mechanism) const;
  /// One map wide: how many stand beside each other follows the room.
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

  QBoxLayout* halves_;  ///< the plane with its controls; the maps, under it or beside it
  PlaneView* plane_;
  NumberSlider* count_;
  NumberSlider* scale_;
  QCheckBox* tied_;
  QWidget* maps_;
  QGridLayout* grid_;
  std::vector<Shown> shown_;
  std::mt19937 random_{1};  // the same places at every start
};

/// The mechanism with parameters that a handful of tokens allows: whole numbers no larger than
/// half of them.
[[nodiscard]] MechanismChoice small_choice(const MechanismEntry& entry, std::int64_t tokens);

}  // namespace attnscope
