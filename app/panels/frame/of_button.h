// Says what a spectrum or a rank is of.
#pragma once

#include <QToolButton>
#include <string>

class QActionGroup;

namespace attnscope {

/// A menu of what the figures' setting "of" can be; the map at first.
class OfButton : public QToolButton {
  Q_OBJECT
 public:
  explicit OfButton(QWidget* parent = nullptr);

  /// A name of spectrum_of_names.
  [[nodiscard]] std::string chosen() const;
  [[nodiscard]] bool is_map() const { return chosen() == "map"; }

 signals:
  void another_chosen();

 private:
  QActionGroup* of_;
};

}  // namespace attnscope
