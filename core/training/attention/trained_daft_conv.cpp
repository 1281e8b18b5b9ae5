// DAFT-conv with its gradient (DAFT, Eq. 7 to 9).
#include "core/training/attention/daft_window_attention.h"

namespace attnscope {

std::unique_ptr<const TrainedAttention> make_trained_daft_conv(const TrainedAttentionForm& form) {
  return make_daft_window_attention(DaftWindowKind::conv, form);
}

}  // namespace attnscope
