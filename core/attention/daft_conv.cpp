// DAFT-conv (DAFT, Eq. 7 to 9, Algorithm 2): biases in a window, shared by all positions and by the
// channels of a head; every token still sees every other.
#include "core/attention/daft_window.h"

namespace attnscope {

MechanismEntry daft_conv_entry() {
  return {"daft-conv",
          "DAFT-conv",
          "DAFT, Eq. 7 to 9",
          daft_window_parameters(),
          daft_window_tensors(),
          [](const ParameterValues& values) {
            return make_daft_window("daft-conv", DaftWindowKind::conv, values);
          }};
}

}  // namespace attnscope
