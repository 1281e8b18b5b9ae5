// DAFT-conv with one nonzero bias per head, with its gradient (DAFT, appendix C).
#include "core/training/attention/daft_window_attention.h"

namespace attnscope {

std::unique_ptr<const TrainedAttention> make_trained_daft_one_hot(
    const TrainedAttentionForm& form) {
  return make_daft_window_attention(DaftWindowKind::one_hot, form);
}

}  // namespace attnscope
