#include "core/training/attention/trained_attention.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/training/attention/score_attention.h"

namespace attnscope {

// One declaration per mechanism, defined in its own file.
std::unique_ptr<const TrainedAttention> make_trained_adder(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_additive(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_agent(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_cosformer(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_daft_conv(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_daft_full(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_daft_local(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_daft_one_hot(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_delta(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_differential(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_entmax(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_focused(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_forgetting(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_gla(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_hash(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_inline(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_linear(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_linformer(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_mamba2(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_nystrom(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_performer(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_relu(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_retention(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_rotary(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_sigmoid(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_sima(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_sink(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_soft(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_sparsemax(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_ssmax(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_synthesizer(const TrainedAttentionForm& form);
std::unique_ptr<const TrainedAttention> make_trained_talking_heads(
    const TrainedAttentionForm& form);

/// `attention` with the map A + T, T the convolution of the values. Throws Error(usage) for a layer
/// whose tokens are not on a grid.
std::unique_ptr<const TrainedAttention> with_values_convolution(
    const TrainedAttentionForm& form, std::unique_ptr<const TrainedAttention> attention);

std::span<const TrainedAttentionEntry> trained_attentions() {
  static constexpr std::array<TrainedAttentionEntry, 35> list = {{
      {"adder", make_trained_adder, true},
      {"additive", make_trained_additive},
      {"agent", make_trained_agent},
      {"cosformer", make_trained_cosformer},
      {"daft-conv", make_trained_daft_conv},
      {"daft-full", make_trained_daft_full},
      {"daft-local", make_trained_daft_local},
      {"daft-one-hot", make_trained_daft_one_hot},
      {"differential", make_trained_differential},
      {"entmax", make_trained_entmax, true},
      {"focused", make_trained_focused},
      {"forgetting", make_trained_forgetting, true},
      {"gated-delta", make_trained_delta},
      {"gla", make_trained_gla},
      {"hash", make_trained_hash},
      {"inline", make_trained_inline},
      {"kda", make_trained_delta},
      {"linear", make_trained_linear},
      {"linformer", make_trained_linformer, true},
      {"mamba2", make_trained_mamba2},
      {"mlla", make_trained_rotary},
      {"nystrom", make_trained_nystrom},
      {"performer", make_trained_performer},
      {"rala", make_trained_rotary},
      {"relu", make_trained_relu, true},
      {"retention", make_trained_retention, true},
      {"sigmoid", make_trained_sigmoid, true},
      {"sima", make_trained_sima},
      {"soft", make_trained_soft},
      {"softmax", make_trained_softmax, true},
      {"softmax-sink", make_trained_sink, true},
      {"sparsemax", make_trained_sparsemax, true},
      {"ssmax", make_trained_ssmax, true},
      {"synthesizer", make_trained_synthesizer, true},
      {"talking-heads", make_trained_talking_heads, true},
  }};
  return list;
}

std::unique_ptr<const TrainedAttention> make_trained_attention(const TrainedAttentionForm& form) {
  const auto list = trained_attentions();
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) {
    return entry.name == form.mechanism.name;
  });
  if (found == list.end()) {
    if (form.mechanism.name == "reformer") {
      throw Error(ErrorKind::unsupported,
                  "Reformer cannot be trained: no gradient passes through its hashing")
          .about("mechanism")
          .expected(name_list(list, &TrainedAttentionEntry::name))
          .found(form.mechanism.name);
    }
    throw unknown_name("mechanism to train", form.mechanism.name,
                       name_list(list, &TrainedAttentionEntry::name));
  }
  TrainedAttentionForm complete = form;
  complete.mechanism =
      make_mechanism(choice_over_tokens(form.mechanism, form.layout.has_grid()))->choice();
  std::unique_ptr<const TrainedAttention> made = found->make(complete);
  const TypedValues values(complete.mechanism.parameters);
  if (values.has("term") && values.flag("term")) {
    made = with_values_convolution(complete, std::move(made));
  }
  const MechanismEntry& entry = find_mechanism(form.mechanism.name);
  if (entry.sequential && form.shape.queries != form.shape.keys) {
    throw Error(ErrorKind::usage, "a recurrence over the tokens needs as many keys as queries")
        .about(form.mechanism.name)
        .expected(std::to_string(form.shape.queries) + " keys")
        .found(std::to_string(form.shape.keys));
  }
  if (form.causal && !entry.causal) {
    throw Error(ErrorKind::unsupported, "this mechanism cannot learn texts: it has no causal form")
        .about("mechanism")
        .expected("a mechanism whose queries can be kept from later tokens, such as softmax")
        .found(form.mechanism.name)
        .remedy("train it on images or on texts with classes");
  }
  return made;
}

OwnParameter own_parameter(const TrainedAttentionForm& form, std::string_view name,
                           Initialisation initialisation) {
  OwnParameter own{std::string(name), {}, initialisation};
  if (form.shape.queries == 0) return own;
  const MechanismEntry& entry = find_mechanism(form.mechanism.name);
  ParameterValues settings = form.mechanism.parameters;
  for (const ParameterDescription& one : entry.accounting) {
    settings.emplace(one.name, one.default_value);  // the side of the values' convolution
  }
  for (const TensorDescription& tensor : entry.tensors) {
    if (tensor.name == name) own.shape = tensor.shape(form.shape, TypedValues(settings)).value();
  }
  return own;
}

}  // namespace attnscope
