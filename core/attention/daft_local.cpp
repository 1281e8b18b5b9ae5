// DAFT-conv without global connectivity: tokens outside the window are not seen (DAFT, section 5.1
// and Fig. 2).
#include "core/attention/daft_window.h"

namespace attnscope {

MechanismEntry daft_local_entry() {
  return {"daft-local",
          "DAFT-local",
          "DAFT, section 5.1",
          daft_window_parameters(),
          daft_window_tensors(),
          [](const ParameterValues& values) {
            return make_daft_window("daft-local", DaftWindowKind::local, values);
          }};
}

}  // namespace attnscope
