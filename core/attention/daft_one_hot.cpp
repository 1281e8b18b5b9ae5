// DAFT-conv with one bias that is not 0 in each head (DAFT, appendix C, Eq. 11 at inference).
#include "core/attention/daft_window.h"

namespace attnscope {

MechanismEntry daft_one_hot_entry() {
  return {"daft-one-hot",
          "DAFT-one-hot",
          "DAFT, appendix C",
          daft_window_parameters(),
          daft_window_tensors(),
          [](const ParameterValues& values) {
            return make_daft_window("daft-one-hot", DaftWindowKind::one_hot, values);
          }};
}

}  // namespace attnscope
