#include "analysis/figure/subject_groups.h"

#include <algorithm>

namespace attnscope {

namespace {

bool same_but_for_input(const Subject& a, const Subject& b) {
  if (a.own_input != b.own_input) return false;  // open side by side, to be compared
  const bool same_model = a.model != nullptr && b.model != nullptr
                              ? a.model->file() == b.model->file()
                              : a.model == b.model && a.trace->model_name == b.trace->model_name;
  return same_model && a.trace->mechanism == b.trace->mechanism &&
         a.trace->input_label != b.trace->input_label;
}

std::string without_input(const Subject& subject) {
  const std::string suffix = " on " + subject.trace->input_label;
  return subject.label.ends_with(suffix)
             ? subject.label.substr(0, subject.label.size() - suffix.size())
             : subject.label;
}

}  // namespace

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
      group->label = without_input(request.subjects[group->subjects.front()]);
      group->subjects.push_back(index);
    } else {
      groups.push_back({subject.label, {index}});
    }
  }
  return groups;
}

std::vector<std::string> short_labels(const FigureRequest& request) {
  std::vector<std::string> labels;
  for (const Subject& subject : request.subjects) labels.push_back(subject.label);
  if (labels.size() < 2) return labels;
  std::size_t common = labels.front().size();
  for (const std::string& label : labels) {
    const auto [a, b] =
        std::mismatch(labels.front().begin(), labels.front().end(), label.begin(), label.end());
    common = std::min(common, static_cast<std::size_t>(a - labels.front().begin()));
  }
  const std::size_t separator = labels.front().substr(0, common).find_last_of("-_ /");
  if (separator == std::string::npos) return labels;
  const bool leaves_all = std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
    return label.size() > separator + 1;
  });
  if (!leaves_all) return labels;
  for (std::string& label : labels) label.erase(0, separator + 1);
  return labels;
}

}  // namespace attnscope
