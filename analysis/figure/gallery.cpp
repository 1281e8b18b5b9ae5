#include "analysis/figure/gallery.h"

#include <algorithm>
#include <cctype>

#include "analysis/figure/fit.h"
#include "analysis/figure/settings.h"

namespace attnscope {

namespace {

constexpr std::string_view adder_paper =
    "Shu, Wang, Chen, Li, Yang, Wang: Adder Attention for Vision Transformer (NeurIPS 2021)";
constexpr std::string_view daft_paper =
    "A Dot Product Attention Free Transformer (anonymous, under review at ICLR 2022)";
constexpr std::string_view ecoformer_paper =
    "Liu, Pan, He, Cai, Zhuang: EcoFormer: Energy-Saving Attention with Linear Complexity "
    "(NeurIPS 2022)";
constexpr std::string_view fastformer_paper =
    "Additive Attention Is All You Need? (Fastformer for language models), after Wu et al.: "
    "Fastformer: Additive Attention Can Be All You Need (2021)";

GalleryEntry daft_entry(std::string_view place, std::string_view title,
                        std::string_view recipe = "position-bias", int input = 0) {
  return {.place = place,
          .title = title,
          .paper = daft_paper,
          .recipe = recipe,
          .family = "daft-conv",
          .family_title = "DAFT-conv",
          .input = input,
          .most_models = 1};
}

GalleryEntry full_daft_entry(std::string_view place, std::string_view title) {
  GalleryEntry entry = daft_entry(place, title);
  entry.family = "daft-full";
  entry.family_title = "DAFT-full";
  return entry;
}

GalleryEntry key_maps(std::string_view place, int input) {
  return daft_entry(place, "Keys of every layer and head over the image", "key-maps", input);
}

/// The entry of a model trained in a way that no file states; `model` is its index among those that
/// fit.
GalleryEntry trained_entry(std::string_view place, std::string_view title, std::size_t model,
                           std::string_view note, std::string_view trained) {
  GalleryEntry entry = daft_entry(place, title);
  entry.note = note;
  entry.model = model;
  entry.trained = trained;
  return entry;
}

std::vector<GalleryEntry> all_entries() {
  const IndexRanges first_head = {{0, 0}}, third_layer = {{2, 2}};
  GalleryEntry one_layer =
      full_daft_entry("DAFT, Fig. 1 left", "The position bias of the third layer");
  one_layer.settings = {{"layers", third_layer}};
  GalleryEntry even_layers = daft_entry(
      "DAFT, Fig. 1 right", "Relative position biases of layers 0, 2, 4, …, head by head");
  even_layers.even_layers = true;
  return {
      {.place = "Adder, Fig. 1",
       .title = "Final features of a labelled data set, in the plane",
       .paper = adder_paper,
       .recipe = "feature-scatter",
       .note = "the paper's networks have features of two numbers; here, principal components",
       .most_models = 3},
      {.place = "Adder, Fig. 2",
       .title = "Cumulative normalised singular values of the maps",
       .paper = adder_paper,
       .recipe = "cumulative-spectrum",
       .settings = {{"identity", "both"}},
       .most_models = 4},
      {.place = "Adder, Fig. 3",
       .title = "Attention maps side by side, with their equivalent ranks",
       .paper = adder_paper,
       .recipe = "attention-maps",
       .settings = {{"columns", "subjects"}, {"heads", first_head}, {"identity", "both"}},
       .input = 0,
       .most_models = 3},
      {.place = "Adder, appendix Fig. 2",
       .title = "Attention maps of head 0 in the first, middle and last layer",
       .paper = adder_paper,
       .recipe = "attention-maps",
       .settings = {{"columns", "layers"}, {"heads", first_head}},
       .family = "adder",
       .family_title = "adder",
       .input = 0,
       .most_models = 1},
      {.place = "Adder, appendix Fig. 3",
       .title = "What the class token attends to, over the image",
       .paper = adder_paper,
       .recipe = "attention-overlay",
       .input = 0,
       .most_models = 2},
      one_layer,
      even_layers,
      full_daft_entry("DAFT, Fig. 3", "Exponentiated position biases of every layer"),
      daft_entry("DAFT, Fig. 8", "Exponentiated position biases of every layer and head"),
      trained_entry(
          "DAFT, Fig. 9", "The same, trained with sparsity regularisation", 1,
          "the paper's model was trained with sparsity regularisation; a file does not say",
          "trained with sparsity regularisation"),
      trained_entry(
          "DAFT, Fig. 10", "The same, trained with Gumbel softmax sampling", 2,
          "the paper's model was trained with Gumbel softmax sampling; a file does not say",
          "trained with Gumbel softmax sampling"),
      key_maps("DAFT, Fig. 11", 0),
      key_maps("DAFT, Fig. 12", 1),
      key_maps("DAFT, Fig. 13", 2),
      key_maps("DAFT, Fig. 14", 3),
      {.place = "EcoFormer, Fig. 2",
       .title = "Attention against feed-forward layers: operations and energy",
       .paper = ecoformer_paper,
       .recipe = "energy-share",
       .without_subjects = true},
      {.place = "Fastformer-LM",
       .title = "Importance of each token of a text",
       .paper = fastformer_paper,
       .recipe = "token-importance",
       .family = "additive",
       .family_title = "additive attention over a text",
       .most_models = 1},
  };
}

}  // namespace

std::span<const GalleryEntry> gallery() {
  static const std::vector<GalleryEntry> list = all_entries();
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

std::string needs_family(const GalleryEntry& entry) {
  return "needs a model with " + std::string(entry.family_title);
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

GalleryItem item_of(const GalleryEntry& entry, const FigureRequest& open,
                    const std::string& data_set) {
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
  if (none_fits && !entry.family_title.empty()) item.missing = needs_family(entry);
  if (!item.missing.empty() || entry.without_subjects) return item;
  std::erase_if(fit.subjects, [&](std::size_t index) {
    return !entry.family.empty() && !attends_by(open.subjects[index], entry.family);
  });
  if (fit.subjects.empty()) {
    item.missing = needs_family(entry);
    return item;
  }
  if (entry.model > 0) {
    std::vector<std::size_t> before = fit.subjects;
    keep_models(open.subjects, entry.model, false, before);
    std::erase_if(fit.subjects, [&](std::size_t index) {
      return std::find(before.begin(), before.end(), index) != before.end();
    });
    if (fit.subjects.empty()) {
      item.missing = "needs another model with " + std::string(entry.family_title) + ", " +
                     std::string(entry.trained);
      return item;
    }
  }
  if (entry.input >= 0) {
    const auto wanted = static_cast<std::size_t>(entry.input);
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
      item.missing = "needs " + std::to_string(entry.input + 1) + " inputs";
      return item;
    }
  }
  if (entry.paper == adder_paper) {
    // If other mechanisms are open too, those that the paper compares come first.
    std::stable_partition(fit.subjects.begin(), fit.subjects.end(), [&](std::size_t index) {
      const std::string& mechanism = open.subjects[index].mechanism.name;
      return mechanism == "softmax" || mechanism == "adder";
    });
  }
  keep_models(open.subjects, entry.most_models, over_data_set, fit.subjects);
  ParameterValues settings = std::move(item.request.settings);
  item.request = with_subjects(open, fit.subjects);
  if (entry.even_layers) settings["layers"] = even_indices(shared_extents(item.request).layers);
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
