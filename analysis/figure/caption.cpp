#include "analysis/figure/caption.h"

#include <algorithm>
#include <cctype>

#include "analysis/figure/labels.h"
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

/// The parts of the mechanism that the label does not name: "adder, identity=true".
std::string mechanism_beside(const std::string& label, const MechanismChoice& mechanism) {
  std::string whole = to_string(mechanism);  // "adder (identity=true)"
  if (says(label, whole)) return {};
  const std::size_t opening = whole.find(" (");
  if (opening == std::string::npos) return whole;
  const std::string parameters = whole.substr(opening + 2, whole.size() - opening - 3);
  return says(label, mechanism.name) ? parameters : mechanism.name + ", " + parameters;
}

void add_part(std::string& list, const std::string& part) {
  if (!part.empty()) list += (list.empty() ? "" : ", ") + part;
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
      add_part(beside, "not trained: laid over weights trained with another mechanism");
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

}  // namespace attnscope
