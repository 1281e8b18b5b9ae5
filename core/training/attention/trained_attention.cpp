#include "core/training/attention/trained_attention.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// One line a mechanism, declared where it is written.
std::unique_ptr<const TrainedAttention> make_trained_adder(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_additive(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_daft_full(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_hash(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_linear(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_softmax(const TrainedAttentionForm& form);

std::span<const TrainedAttentionEntry> trained_attentions() {
  static constexpr std::array<TrainedAttentionEntry, 6> list = {{
      {"adder", make_trained_adder},
      {"additive", make_trained_additive},
      {"daft-full", make_trained_daft_full},
      {"hash", make_trained_hash},
      {"linear", make_trained_linear},
      {"softmax", make_trained_softmax},
  }};
  return list;
}

std::unique_ptr<const TrainedAttention> make_trained_attention(const TrainedAttentionForm& form) {
  const auto list = trained_attentions();
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) {
    return entry.name == form.mechanism.name;
  });
  if (found == list.end()) {
    throw unknown_name("mechanism to train", form.mechanism.name,
                       name_list(list, &TrainedAttentionEntry::name));
  }
  TrainedAttentionForm complete = form;
  complete.mechanism = make_mechanism(form.mechanism)->choice();
  return found->make(complete);
}

}  // namespace attnscope
