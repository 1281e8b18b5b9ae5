// Figure of the tokens over the image: principal components as colours, or likeness to one token,
// as in DINO (Caron et al. 2021), DINOv2 and DINOv3.
#include "analysis/features/patch_features.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/settings.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The colours of the cells, mixed with the image under them. Every cell has whole pixels.
Image coloured_image(const MatrixD& colours, const TokenLayout& layout, const Image* image,
                     double opacity) {
  constexpr std::int64_t kLeast = 8;  // pixels per side of a cell
  const auto side = [&](std::int64_t pixels, std::int64_t cells) {
    return cells * std::max(kLeast, (pixels + cells - 1) / cells);
  };
  Image made;
  made.width = side(image ? image->width : 0, layout.columns);
  made.height = side(image ? image->height : 0, layout.rows);
  made.channels = 3;
  for (std::int64_t y = 0; y < made.height; ++y) {
    for (std::int64_t x = 0; x < made.width; ++x) {
      const std::int64_t cell =
          y * layout.rows / made.height * layout.columns + x * layout.columns / made.width;
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        double value = 255 * colours(cell, channel);
        if (image) {
          const std::int64_t pixel =
              y * image->height / made.height * image->width + x * image->width / made.width;
          const auto under = static_cast<double>(image->pixels[static_cast<std::size_t>(
              pixel * image->channels + (image->channels == 3 ? channel : 0))]);
          value = opacity * value + (1 - opacity) * under;
        }
        made.pixels.push_back(static_cast<std::uint8_t>(std::lround(value)));
      }
    }
  }
  return made;
}

/// The token that the others are compared with: by its index in the first layer, or the patch in
/// the middle.
std::int64_t compared_token(const Settings& read, const Trace& trace) {
  if (const auto token = read.index("query", trace.tokens())) return *token;
  const TokenLayout& layout = trace.layout;
  if (read.is("query", "class") && layout.prefix > 0) return 0;
  return layout.prefix + layout.rows / 2 * layout.columns + layout.columns / 2;
}

/// Cosines of the compared token's counterpart with the patches of the layer.
HeatMap cosine_map(const Trace& trace, std::int64_t layer, std::int64_t token) {
  (void)patch_tokens(trace, layer);  // refuses tokens without a grid
  const TokenLayout& layout = query_layout(trace, layer);
  const MatrixD tokens =
      trace.layers[static_cast<std::size_t>(layer)].tokens.matrix().cast<double>();
  const std::vector<double> cosines =
      token_cosines(tokens, same_place(trace.layout, token, layout, tokens.rows()));
  HeatMap map;
  map.rows = layout.rows;
  map.columns = layout.columns;
  map.values.assign(cosines.begin() + layout.prefix, cosines.end());
  return map;
}

class PatchFigure {
 public:
  explicit PatchFigure(const FigureRequest& request)
      : request_(request), read_(request), labels_(short_labels(request)) {}

  Figure make() {
    for (std::size_t index = 0; index < request_.subjects.size(); ++index) add_row(index);
    if (!values_.empty()) {
      const HeatScale scale = heat_scale(read_, std::move(values_), "cosine", -1);
      figure_.colour_scales.push_back(scale.scale);
      clipping_ = scale.clipped ? clipping_in_words(scale) : "";
    }
    const TokenLayout& layout = request_.subjects.front().trace->layout;
    finish_map_grid(
        figure_,
        {.rows = std::ssize(request_.subjects),
         .columns = columns_,
         .aspect = static_cast<double>(layout.rows) / static_cast<double>(layout.columns)},
        request_.width_mm);
    figure_.caption = caption();
    return std::move(figure_);
  }

 private:
  [[nodiscard]] bool shows_colours() const { return read_.is("show", "colours"); }

  Panel& add_panel(std::size_t row, const std::string& title) {
    const Subject& subject = request_.subjects[row];
    Panel panel = map_panel(static_cast<std::int64_t>(row), column_++);
    panel.keys = {{"model", subject.label}, {"shown", title}};
    if (row == 0) panel.title = title;
    if (panel.column == 0 && request_.subjects.size() > 1) panel.y.label = labels_[row];
    columns_ = std::max(columns_, column_);
    figure_.panels.push_back(std::move(panel));
    return figure_.panels.back();
  }

  void add_row(std::size_t row) {
    const Trace& trace = *request_.subjects[row].trace;
    const auto count = std::ssize(trace.layers);
    column_ = 0;
    if (read_.flag("image") && trace.image()) {
      add_panel(row, "image").marks.emplace_back(Picture{*trace.image()});
    }
    const std::vector<std::int64_t> layers =
        read_.is("layers", "auto") ? first_middle_last(count) : read_.indices("layers", count);
    for (const std::int64_t layer : layers) {
      Panel& panel = add_panel(row, layer_name(request_, layer));
      shows_colours() ? add_colours(row, layer, panel) : add_cosines(trace, layer, panel);
    }
  }

  void add_colours(std::size_t row, std::int64_t layer, Panel& panel) {
    const Subject& subject = request_.subjects[row];
    const Trace& trace = *subject.trace;
    const auto common = read_.index("axes", std::ssize(trace.layers));
    const PatchAxes axes = patch_axes(patch_tokens(trace, common.value_or(layer)));
    const MatrixD colours = patch_colours(patch_tokens(trace, layer), axes);
    panel.marks.emplace_back(Picture{coloured_image(colours, query_layout(trace, layer),
                                                    trace.image(), read_.number("opacity"))});
    const std::string of = "/" + subject.label + ", " + layer_name(request_, layer);
    figure_.numbers["share_of_variance" + of] = {axes.share.begin(), axes.share.end()};
    const char* const names[] = {"red", "green", "blue"};
    for (Eigen::Index k = 0; k < 3; ++k) {
      figure_.numbers[names[k] + of] = {colours.col(k).begin(), colours.col(k).end()};
    }
  }

  void add_cosines(const Trace& trace, std::int64_t layer, Panel& panel) {
    HeatMap map = cosine_map(trace, layer, compared_token(read_, trace));
    if (trace.image()) panel.marks.emplace_back(Picture{*trace.image()});
    map.opacity = trace.image() ? read_.number("opacity") : 1;
    values_.insert(values_.end(), map.values.begin(), map.values.end());
    panel.marks.emplace_back(std::move(map));
  }

  [[nodiscard]] std::string caption() const {
    std::string text;
    if (shows_colours()) {
      const bool common = !read_.is("axes", "each");
      text =
          "First three principal components of the patches' tokens after each layer as red, "
          "green and blue, " +
          (common ? "all by the axes of layer " + read_.written("axes")
                  : std::string("each layer by its own axes")) +
          ": sigmoid(2z), z in standard deviations; signs by positive skewness";
    } else {
      const Trace& trace = *request_.subjects.front().trace;
      text = "Cosine of the token " + trace.layout.name(compared_token(read_, trace)) +
             " with each patch after each layer";
    }
    return text + ": " + subjects_in_words(request_) + ". " + clipping_ + made_with();
  }

  const FigureRequest& request_;
  const Settings read_;
  const std::vector<std::string> labels_;
  Figure figure_;
  std::vector<float> values_;  // all cosines that are shown
  std::int64_t column_ = 0, columns_ = 0;
  std::string clipping_;
};

Figure make_patch_features(const FigureRequest& request, const Progress&) {
  return PatchFigure(request).make();
}

}  // namespace

FigureRecipe patch_features_recipe() {
  return {
      .name = "patch-features",
      .title = "Features of the patches",
      .source = "DINOv2 and DINOv3",
      .question = FigureQuestion::heads,
      .settings =
          {setting::choice("show", {"colours", "cosine"}, "colours",
                           "three principal components of the tokens as colours, or the cosine of "
                           "one token with each patch"),
           indices_setting("layers", "layers; auto: the first, middle and last")
               .or_word({"auto"})
               .by_default("auto"),
           setting::whole("axes", 0, {.minimum = 0},
                          "the layer whose principal axes all layers share, or each its own")
               .or_word({"each"})
               .by_default("each"),
           setting::whole("query", 0, {.minimum = 0},
                          "the token that patches are compared with, by its index in the first "
                          "layer; auto: the middle of the image")
               .or_word({"auto", "class"})
               .by_default("auto"),
           setting::flag("image", true, "the image itself in the first column"),
           setting::number("opacity", 0.8, {0, 1}, "opacity of the colours over the image"),
           colour_map_setting("magma"), norm_setting(), range_setting()},
      .needs = {.subject = SubjectNeed::run,
                .input = InputNeed::image,
                .missing = "needs a model of images, run on one"},
      .make = make_patch_features};
}

}  // namespace attnscope
