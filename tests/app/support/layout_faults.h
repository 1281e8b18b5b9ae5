// Walks the widgets of a window and finds what a reader would call broken: cut text, controls
// outside their parents, overlaps, unplanned scroll bars. Set ATTNSCOPE_LAYOUT_PICTURES to a folder
// to get a picture of each place with a fault, and ATTNSCOPE_LAYOUT_ALL_PICTURES for one of every
// place.
#pragma once

#include <QString>
#include <QWidget>
#include <cstddef>
#include <map>
#include <string>

namespace attnscope {

class LayoutFaults {
 public:
  /// Collects the faults of all visible widgets under `page`. `where`: the panel or state, for the
  /// report.
  void look_around(const QWidget& page, const QString& where);

  [[nodiscard]] bool empty() const { return faults_.empty(); }
  /// One line for each fault.
  [[nodiscard]] std::string report() const;
  void add(const QString& where, const QWidget& widget, const QString& fault);

 private:
  std::map<QString, QString> faults_;  // each with the place where it was first seen
  std::size_t pictured_ = 0;           // faults when the last picture was due
};

}  // namespace attnscope
