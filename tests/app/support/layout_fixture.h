// A window full of what needs most room: a model of twelve layers with a name of 58 characters and
// two overlays, and a look at its layout.
#pragma once

#include <QString>

#include "tests/app/support/layout_faults.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {

class LayoutTest : public WindowTest {
 protected:
  /// Opens a ViT of twelve layers with a long name and two overlays, on a picture.
  void open_timm();
  /// Waits until the window is settled, and neither its widgets nor those of its dialogs move.
  void rest();
  /// Collects the faults of the window's visible widgets.
  void look_around(const QString& where) { faults_.look_around(window(), where); }

  LayoutFaults faults_;
};

}  // namespace attnscope
