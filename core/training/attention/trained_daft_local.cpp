// DAFT-conv without global connectivity, with its gradient (DAFT, section 5.1).
#include "core/training/attention/daft_window_attention.h"

namespace attnscope {

std::unique_ptr<const TrainedAttention> make_trained_daft_local(const TrainedAttentionForm& form) {
  return make_daft_window_attention(DaftWindowKind::local, form);
}

}  // namespace attnscope
