#include "core/training/attention/trained_heads.h"

namespace attnscope {

namespace {

HeadTensors head_of(const AttentionTensors& all, std::int64_t head) {
  return {share_of_head(all.queries, all.heads, head),
          share_of_head(all.keys, all.heads, head),
          share_of_head(all.values, all.heads, head),
          all.own,
          head,
          all.dropout};
}

}  // namespace

void TrainedHeads::forward(const AttentionTensors& all, StridedMatrixMap output,
                           AttentionRoom& room) const {
  for (std::int64_t head = 0; head < all.heads; ++head) {
    forward_head(head_of(all, head), share_of_head(output, all.heads, head), room);
  }
}

void TrainedHeads::backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                            AttentionGradients gradients, AttentionRoom& room) const {
  for (std::int64_t head = 0; head < all.heads; ++head) {
    backward_head(head_of(all, head), share_of_head(d_output, all.heads, head),
                  {share_of_head(gradients.queries, all.heads, head),
                   share_of_head(gradients.keys, all.heads, head),
                   share_of_head(gradients.values, all.heads, head), gradients.own},
                  room);
  }
}

}  // namespace attnscope
