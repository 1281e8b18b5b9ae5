#include "analysis/figure/labels.h"

#include <algorithm>
#include <set>

namespace attnscope {

namespace {

constexpr std::string_view separators = "-_ ./";

std::set<std::string> distinct(const std::vector<std::string>& labels) {
  return {labels.begin(), labels.end()};
}

/// Length of the longest common prefix that ends in a separator.
std::size_t shared_beginning(const std::set<std::string>& labels) {
  const std::string& first = *labels.begin();
  std::size_t common = first.size();
  for (const std::string& label : labels) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), label.begin(), label.end());
    common = std::min(common, static_cast<std::size_t>(a - first.begin()));
  }
  const std::size_t separator = first.substr(0, common).find_last_of(separators);
  return separator == std::string::npos ? 0 : separator + 1;
}

/// Length of the longest common suffix that begins with a separator.
std::size_t shared_end(const std::set<std::string>& labels) {
  const std::string& first = *labels.begin();
  std::size_t common = first.size();
  for (const std::string& label : labels) {
    const auto [a, b] = std::mismatch(first.rbegin(), first.rend(), label.rbegin(), label.rend());
    common = std::min(common, static_cast<std::size_t>(a - first.rbegin()));
  }
  const std::size_t separator = first.find_first_of(separators, first.size() - common);
  return separator == std::string::npos ? 0 : first.size() - separator;
}

/// True if brackets are balanced: "adder (identity=true)" must not lose only its closing bracket.
bool is_whole(const std::string& label) {
  return std::count(label.begin(), label.end(), '(') == std::count(label.begin(), label.end(), ')');
}

}  // namespace

std::vector<std::string> short_labels(const std::vector<std::string>& labels) {
  const std::set<std::string> all = distinct(labels);
  if (all.size() < 2) return labels;
  std::vector<std::string> shortened = labels;
  const auto try_to = [&](const auto& shorten) {
    std::vector<std::string> candidate = shortened;
    for (std::string& label : candidate) shorten(label);
    const bool good = std::all_of(candidate.begin(), candidate.end(), [](const std::string& label) {
      return !label.empty() && is_whole(label);
    });
    if (good && distinct(candidate).size() == all.size()) shortened = std::move(candidate);
  };
  const std::size_t beginning = shared_beginning(all);
  try_to([beginning](std::string& label) { label.erase(0, std::min(beginning, label.size())); });
  const std::size_t end = shared_end(distinct(shortened));
  try_to([end](std::string& label) { label.erase(label.size() - std::min(end, label.size())); });
  return shortened;
}

std::string label_without_input(const Subject& subject) {
  if (subject.trace == nullptr || subject.trace->input_label.empty()) return subject.label;
  const std::string suffix = " on " + subject.trace->input_label;
  return subject.label.ends_with(suffix)
             ? subject.label.substr(0, subject.label.size() - suffix.size())
             : subject.label;
}

std::vector<std::string> short_labels(const FigureRequest& request) {
  std::vector<std::string> labels, models, inputs;
  for (const Subject& subject : request.subjects) {
    labels.push_back(subject.label);
    models.push_back(label_without_input(subject));
    // The input is included only if the label contains it.
    inputs.push_back(models.back() == subject.label ? "" : subject.trace->input_label);
  }
  const bool several_models = distinct(models).size() > 1;
  const bool several_inputs = distinct(inputs).size() > 1;
  if (!several_models && !several_inputs) return labels;
  const std::vector<std::string> short_models = short_labels(models);
  const std::vector<std::string> short_inputs = short_labels(inputs);
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::string label = several_models ? short_models[i] : "";
    if (several_inputs && !short_inputs[i].empty()) {
      label += (label.empty() ? "" : " on ") + short_inputs[i];
    }
    joined.push_back(std::move(label));
  }
  const bool tells_apart = distinct(joined).size() == distinct(labels).size() &&
                           std::none_of(joined.begin(), joined.end(),
                                        [](const std::string& label) { return label.empty(); });
  return tells_apart ? joined : labels;
}

}  // namespace attnscope
