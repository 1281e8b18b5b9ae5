#include "analysis/figure/gallery.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "analysis/figure/fit.h"
#include "analysis/figure/settings.h"

namespace attnscope {

namespace {

/// The figure and the settings of a command `attnscope figure NAME MODEL… --set KEY=VALUE …`, whose
/// models, inputs and labelled data set are those of the gallery instead.
void take_command(const std::string& command, GalleryEntry& entry) {
  std::istringstream words(command);
  std::map<std::string, std::string> settings;
  std::string before;
  for (std::string word; words >> word; before = word) {
    if (before == "figure") entry.recipe = word;
    const std::size_t equals = word.find('=');
    if (before == "--set" && !word.starts_with("dataset=")) {
      settings[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  entry.settings = parse_settings(entry.recipe, settings);
}

std::vector<GalleryEntry> read_gallery() {
  std::vector<GalleryEntry> list;
  for (const Paper& paper : papers()) {
    for (const PaperItem& item : paper.items) {
      if (!item.in_gallery) continue;
      GalleryEntry& entry = list.emplace_back();
      entry.place = paper.place + item.place;
      entry.title = item.title;
      entry.paper = paper.title;
      entry.note = item.differs;
      entry.choice = &item.gallery;
      take_command(item.commands.front(), entry);
    }
  }
  return list;
}

}  // namespace

std::span<const GalleryEntry> gallery() {
  static const std::vector<GalleryEntry> list = read_gallery();
  return list;
}

std::string file_name_of(const GalleryEntry& entry) {
  std::string name;
  for (const char c : entry.place) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

namespace {

std::string needs_family(const GalleryChoice& choice) {
  return "needs a model with " + choice.family_title;
}

IndexRanges even_indices(std::int64_t count) {
  IndexRanges list;
  for (std::int64_t index = 0; index < count; index += 2) list.push_back({index, index});
  return list;
}

/// True if both subjects have the same model and mechanism, whatever their inputs.
bool same_model(const Subject& a, const Subject& b) {
  // Traces without a model are compared by label and mechanism.
  if (a.model == nullptr || b.model == nullptr) {
    return a.model == b.model && a.label == b.label && a.mechanism == b.mechanism;
  }
  // Compared by file, because each input may have loaded the model again.
  return a.model->file() == b.model->file() && a.mechanism == b.mechanism;
}

/// Keeps the subjects of the first `most` models (0: all), one input per model if `once`.
void keep_models(const std::vector<Subject>& subjects, std::size_t most, bool once,
                 std::vector<std::size_t>& indices) {
  std::vector<std::size_t> kept, models;
  for (const std::size_t index : indices) {
    const bool known = std::any_of(models.begin(), models.end(), [&](std::size_t model) {
      return same_model(subjects[model], subjects[index]);
    });
    if (known && once) continue;
    if (!known) {
      if (most > 0 && models.size() == most) continue;
      models.push_back(index);
    }
    kept.push_back(index);
  }
  indices = std::move(kept);
}

/// If some subjects have mechanisms that the paper compares, keeps only those, in the paper's
/// order, with one of each mechanism and its parameters before further ones.
void keep_compared(const std::vector<Subject>& subjects, const std::vector<std::string>& compares,
                   std::vector<std::size_t>& indices) {
  std::vector<std::size_t> first, further;
  std::set<std::string> seen;
  for (const std::string& mechanism : compares) {
    for (const std::size_t index : indices) {
      if (subjects[index].mechanism.name != mechanism) continue;
      const bool is_new = seen.insert(to_string(subjects[index].mechanism)).second;
      (is_new ? first : further).push_back(index);
    }
  }
  if (first.empty()) return;
  indices = std::move(first);
  indices.insert(indices.end(), further.begin(), further.end());
  // Maps of texts do not stand next to maps of images.
  const auto is_on_grid = [&](std::size_t index) {
    return subjects[index].trace->layout.has_grid();
  };
  const bool on_grid = is_on_grid(indices.front());
  std::erase_if(indices, [&](std::size_t index) { return is_on_grid(index) != on_grid; });
}

GalleryItem item_of(const GalleryEntry& entry, const FigureRequest& open,
                    const std::string& data_set) {
  const GalleryChoice& choice = *entry.choice;
  GalleryItem item;
  item.entry = &entry;
  item.request = with_subjects(open, {});
  item.request.settings = entry.settings;
  const FigureRecipe& recipe = find_figure(entry.recipe);
  const bool over_data_set = recipe.needs.setting == "dataset";
  if (over_data_set && !data_set.empty()) item.request.settings["dataset"] = data_set;
  FigureFit fit = fit_of(entry.recipe, open.subjects, item.request.settings);
  item.missing = fit.missing.empty() ? fit.unset : fit.missing;
  const bool none_fits = fit.subjects.empty() && item.missing != not_in_this_version;
  if (none_fits && !choice.family_title.empty()) item.missing = needs_family(choice);
  if (!item.missing.empty() || choice.without_subjects) return item;
  std::erase_if(fit.subjects, [&](std::size_t index) {
    return !choice.family.empty() && !attends_by(open.subjects[index], choice.family);
  });
  if (fit.subjects.empty()) {
    item.missing = needs_family(choice);
    return item;
  }
  if (choice.model > 0) {
    std::vector<std::size_t> before = fit.subjects;
    keep_models(open.subjects, choice.model, false, before);
    std::erase_if(fit.subjects, [&](std::size_t index) {
      return std::find(before.begin(), before.end(), index) != before.end();
    });
    if (fit.subjects.empty()) {
      item.missing = "needs another model with " + choice.family_title + ", " + choice.trained;
      return item;
    }
  }
  if (choice.input >= 0) {
    const auto wanted = static_cast<std::size_t>(choice.input);
    std::erase_if(fit.subjects, [&](std::size_t index) {
      const Subject& subject = open.subjects[index];
      if (subject.input == nullptr) return wanted != 0;  // a trace has a single input
      // Inputs are counted per model, because texts and images may be open together.
      std::vector<std::string> own;
      for (const Subject& other : open.subjects) {
        if (other.input != nullptr && same_model(other, subject)) {
          own.push_back(other.input->locator);
        }
      }
      return wanted >= own.size() || own[wanted] != subject.input->locator;
    });
    if (fit.subjects.empty()) {
      item.missing = "needs " + std::to_string(choice.input + 1) + " inputs";
      return item;
    }
  }
  keep_compared(open.subjects, choice.compares, fit.subjects);
  keep_models(open.subjects, choice.most_models, over_data_set, fit.subjects);
  ParameterValues settings = std::move(item.request.settings);
  item.request = with_subjects(open, fit.subjects);
  if (choice.even_layers) settings["layers"] = even_indices(shared_extents(item.request).layers);
  item.request.settings = std::move(settings);
  return item;
}

}  // namespace

std::vector<GalleryItem> gallery_items(const FigureRequest& open, const std::string& data_set) {
  std::vector<GalleryItem> items;
  for (const GalleryEntry& entry : gallery()) items.push_back(item_of(entry, open, data_set));
  return items;
}

}  // namespace attnscope
