#include "core/attention/mechanism_manual.h"

#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

std::string settings_of(const MechanismEntry& entry) {
  std::string text = "### " + std::string(entry.title) + " (`" + std::string(entry.name) +
                     "`)\n\n" + std::string(entry.source) + ". " +
                     (entry.causal ? "Also in language models.\n" : "Not in language models.\n");
  if (!entry.parameters.empty()) {
    text += "\n| setting | default | may be | what it is |\n|---|---|---|---|\n";
  }
  for (const ParameterDescription& parameter : entry.parameters) {
    text += "| `" + parameter.name + "` | " + to_string(parameter.default_value) + " | " +
            range_of(parameter) + (parameter.unit.empty() ? "" : " (" + parameter.unit + ")") +
            " | " + parameter.explanation + " |\n";
  }
  if (!entry.tensors.empty()) {
    text += "\n| tensor of the layer | what it is |\n|---|---|\n";
  }
  for (const TensorDescription& tensor : entry.tensors) {
    text += "| `" + std::string(tensor.name) + "` | " + std::string(tensor.explanation) + " |\n";
  }
  return text;
}

}  // namespace

std::string mechanisms_as_markdown() {
  std::string text =
      "| name | weights of the values | rank of its map at most | time of a layer |\n"
      "|---|---|---|---|\n";
  for (const MechanismEntry& entry : mechanisms()) {
    text += "| `" + std::string(entry.name) + "` | " + std::string(entry.formula) + " | " +
            std::string(entry.rank) + " | O(" + std::string(entry.complexity.time) + ") |\n";
  }
  return text;
}

std::string mechanism_settings_as_markdown() {
  std::string text;
  for (const MechanismEntry& entry : mechanisms()) {
    text += (text.empty() ? "" : "\n") + settings_of(entry);
  }
  return text;
}

}  // namespace attnscope
