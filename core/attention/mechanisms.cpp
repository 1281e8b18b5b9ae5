// The list of mechanisms.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// One line a mechanism, declared where it is written.
MechanismEntry softmax_entry();
MechanismEntry adder_entry();
MechanismEntry additive_entry();
MechanismEntry hash_entry();
MechanismEntry linear_entry();
MechanismEntry daft_full_entry();
MechanismEntry daft_conv_entry();
MechanismEntry daft_local_entry();
MechanismEntry daft_one_hot_entry();
MechanismEntry linformer_entry();
MechanismEntry performer_entry();
MechanismEntry reformer_entry();
MechanismEntry synthesizer_entry();

std::span<const MechanismEntry> mechanisms() {
  // One line each.
  // clang-format off
  static const MechanismEntry list[] = {
      softmax_entry(),  // first: the default
      adder_entry(),
      additive_entry(),
      hash_entry(),
      linear_entry(),
      daft_full_entry(),
      daft_conv_entry(),
      daft_local_entry(),
      daft_one_hot_entry(),
      performer_entry(),
      linformer_entry(),
      reformer_entry(),
      synthesizer_entry(),
  };
  // clang-format on
  return list;
}

AttentionShape AttentionInput::shape() const {
  const std::int64_t share = std::max<std::int64_t>(heads, 1);
  return {.queries = queries.rows(),
          .keys = keys.rows(),
          .heads = heads,
          .head_width = queries.cols() / share,
          .value_width = values.cols() / share};
}

const MechanismEntry& find_mechanism(std::string_view name) {
  for (const MechanismEntry& entry : mechanisms()) {
    if (entry.name == name) return entry;
  }
  throw unknown_name("mechanism", name, name_list(mechanisms(), &MechanismEntry::name));
}

std::unique_ptr<const Mechanism> make_mechanism(const MechanismChoice& choice) {
  const MechanismEntry& entry = find_mechanism(choice.name);
  return entry.make(complete_values(entry.name, entry.parameters, choice.parameters));
}

}  // namespace attnscope
