#include "analysis/figure/subject_groups.h"

#include <algorithm>

#include "analysis/figure/labels.h"

namespace attnscope {

namespace {

bool same_but_for_input(const Subject& a, const Subject& b) {
  if (a.own_input != b.own_input) return false;  // open side by side for comparison
  const bool same_model = a.model != nullptr && b.model != nullptr
                              ? a.model->file() == b.model->file()
                              : a.model == b.model && a.trace->model_name == b.trace->model_name;
  return same_model && a.trace->mechanism == b.trace->mechanism &&
         a.trace->input_label != b.trace->input_label;
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
