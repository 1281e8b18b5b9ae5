#include "analysis/figure/caption.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/attention/mechanism.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

/// True if the label contains `word` as a whole word: "adder" in "fashion-adder".
bool says(const std::string& label, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = label.find(word); at != std::string::npos; at = label.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(label[at - 1])) && (end == label.size() || !is_part(label[end]))) {
      return true;
    }
  }
  return false;
}

/// The parts of the mechanism that the label does not name: "adder attention + identity".
std::string mechanism_beside(const std::string& label, const MechanismChoice& mechanism) {
  const std::string settings = settings_in_words(mechanism);
  if (!says(label, mechanism.name)) return in_words(mechanism);
  return label.ends_with(settings) ? "" : settings;
}

void add_part(std::string& list, const std::string& part) {
  if (!part.empty()) list += (list.empty() ? "" : ", ") + part;
}

constexpr std::string_view separators = "-_ ./";

std::set<std::string> distinct(const std::vector<std::string>& labels) {
  return {labels.begin(), labels.end()};
}

/// Length of the longest common prefix that ends in a separator; 0 if one label begins all others,
/// "vit-in1k" and "vit-in1k as adder", of which only the tail would be left.
std::size_t shared_beginning(const std::set<std::string>& labels) {
  const std::string& first = *labels.begin();
  std::size_t common = first.size();
  for (const std::string& label : labels) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), label.begin(), label.end());
    common = std::min(common, static_cast<std::size_t>(a - first.begin()));
  }
  if (common == first.size()) return 0;
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

/// True if brackets are balanced: "net (run 1)" must not lose only its closing bracket.
bool is_whole(const std::string& label) {
  return std::count(label.begin(), label.end(), '(') == std::count(label.begin(), label.end(), ')');
}

bool same_but_for_input(const Subject& a, const Subject& b) {
  if (a.own_input != b.own_input) return false;  // open side by side for comparison
  const bool same_model = a.model != nullptr && b.model != nullptr
                              ? a.model->file() == b.model->file()
                              : a.model == b.model && a.trace->model_name == b.trace->model_name;
  return same_model && a.trace->mechanism == b.trace->mechanism &&
         a.trace->input_label != b.trace->input_label;
}

/// The subject's label without a final " on INPUT".
std::string label_without_input(const Subject& subject) {
  if (subject.trace == nullptr || subject.trace->input_label.empty()) return subject.label;
  const std::string suffix = " on " + subject.trace->input_label;
  return subject.label.ends_with(suffix)
             ? subject.label.substr(0, subject.label.size() - suffix.size())
             : subject.label;
}

}  // namespace

std::string subjects_in_words(const FigureRequest& request) {
  const auto input_of = [](const Subject& subject) { return subject.trace->input_label; };
  // An input shared by all subjects is named once, after them.
  const bool same_input =
      request.subjects.size() > 1 &&
      std::all_of(request.subjects.begin(), request.subjects.end(), [&](const Subject& subject) {
        return input_of(subject) == input_of(request.subjects.front());
      });
  std::string words;
  for (const Subject& subject : request.subjects) {
    const std::string label = label_without_input(subject);
    std::string beside = mechanism_beside(label, subject.trace->mechanism);
    if (!subject.trace->mechanism_trained) {
      add_part(beside, std::string(not_trained_words));
    }
    add_part(beside, channel_in_words(*subject.trace));
    words += (words.empty() ? "" : "; ") + label;
    if (!beside.empty()) words += " (" + beside + ")";
    if (!same_input && !input_of(subject).empty()) words += " on " + input_of(subject);
  }
  if (same_input && !input_of(request.subjects.front()).empty()) {
    words += std::string(request.subjects.size() == 2 ? ", both on " : ", all on ") +
             input_of(request.subjects.front());
  }
  return words;
}

std::string caption_with_status(std::string caption, const FigureRequest& request) {
  std::string words;
  for (const Subject& subject : request.subjects) {
    const ModelStatus status = status_of(subject);
    if (!status.is_doubtful()) continue;
    const std::string& name = subject.model ? subject.model->name() : subject.trace->model_name;
    const std::string sentence = name + " " + in_words(status) + ". ";
    if (words.find(sentence) == std::string::npos) words += sentence;
  }
  if (words.empty()) return caption;
  const std::string end = made_with();
  if (caption.ends_with(end)) return caption.insert(caption.size() - end.size(), words);
  return caption + (caption.empty() || caption.ends_with(' ') ? "" : " ") + words;
}

std::string chosen(const std::string& what, const std::string& indices) {
  if (indices == "all") return "all " + what + "s";
  const bool several = indices.find_first_of(",-") != std::string::npos;
  return what + (several ? "s " : " ") + indices;
}

std::string made_with() { return "Made with attnscope " ATTNSCOPE_VERSION "."; }

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
  // One model under several attentions is told apart by them.
  std::vector<std::string> attentions;
  for (const Subject& subject : request.subjects) {
    const Model* const model = subject.model.get();
    const Model* const first = request.subjects.front().model.get();
    if (model != nullptr && first != nullptr && model->file() == first->file() &&
        subject.label.starts_with(model->name())) {
      attentions.push_back(in_words(subject.mechanism));
    }
  }
  const bool one_model =
      attentions.size() == models.size() && distinct(attentions).size() == distinct(models).size();
  const std::vector<std::string> short_models = one_model ? attentions : short_labels(models);
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

std::vector<SubjectGroup> subject_groups(const FigureRequest& request, bool averaged) {
  std::vector<SubjectGroup> groups;
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    const Subject& subject = request.subjects[index];
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const SubjectGroup& other) {
      return std::all_of(other.subjects.begin(), other.subjects.end(), [&](std::size_t member) {
        return same_but_for_input(request.subjects[member], subject);
      });
    });
    if (averaged && group != groups.end()) {
      group->label = label_without_input(request.subjects[group->subjects.front()]);
      group->subjects.push_back(index);
    } else {
      groups.push_back({subject.label, {}, {index}});
    }
  }
  // Labels of the groups are shortened like those of subjects without inputs.
  FigureRequest firsts;
  for (const SubjectGroup& group : groups) {
    firsts.subjects.push_back(request.subjects[group.subjects.front()]);
    firsts.subjects.back().label = group.label;
  }
  const std::vector<std::string> labels = short_labels(firsts);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].short_label = labels[i];
  return groups;
}

}  // namespace attnscope
