#include "core/model/evaluation/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/model/evaluation/fit_base.h"
#include "core/model/evaluation/reference.h"
#include "core/model/evaluation/score_fit.h"
#include "core/model/evaluation/self_test.h"
#include "core/model/parts/rotary.h"
#include "core/model/transformer/transformer.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Said = std::map<std::string, std::string>;
using Dimension = std::vector<Said>;  ///< the first value is the default

constexpr double kFits = 1e-4;  ///< relative; rounding stays a hundred times below it
constexpr std::array kNormEps = {"1e-05", "1e-06", "1e-12", "1e-08"};
constexpr std::size_t kMostKept = 16;
constexpr std::size_t kMostCapped = 128;  ///< limit of combinations that are tried with a cap

/// Largest error that counts as equal to the least one, because of differences in summation order.
double as_good_as(double least) {
  return least < kFits ? std::min(kFits, std::max(10 * least, 3e-6)) : least;
}

/// The Cartesian product of the dimensions, with combinations of their first values first.
std::vector<Said> product(const std::vector<Dimension>& dimensions) {
  std::vector<Said> all = {{}};
  for (const Dimension& dimension : dimensions) {
    std::vector<Said> more;
    for (const Said& before : all) {
      for (const Said& value : dimension) {
        more.push_back(before);
        more.back().insert(value.begin(), value.end());
      }
    }
    all = std::move(more);
  }
  return all;
}

Said joined_choices(Said first, const Said& second) {
  for (const auto& [option, value] : second) first.insert_or_assign(option, value);
  return first;
}

/// The relative difference; infinite if the shapes differ.
double difference_of(const Tensor& ours, const Tensor& reference) {
  if (ours.shape() != reference.shape()) return std::numeric_limits<double>::infinity();
  return relative_difference(ours, reference);
}

/// The shortest decimal text within a relative error of 2e-5, or the exact text.
std::string short_text(double value) {
  for (int digits = 1; digits < 7; ++digits) {
    const std::string text = rounded_text(value, digits);
    const std::optional<double> read = parse_number(text);
    if (read && std::abs(*read - value) <= 2e-5 * std::abs(value)) return text;
  }
  return exact(value);
}

/// Minimises `error` between two positive numbers: on a logarithmic grid, then around its best
/// point.
double least_of(double from, double to, int steps, const std::function<double(double)>& error) {
  const double first = std::log(from), step = (std::log(to) - first) / steps;
  double best = first, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i) {
    const double at = first + i * step, found = error(std::exp(at));
    if (found < least) {
      least = found;
      best = at;
    }
  }
  for (double width = step / 2; width > 1e-7; width /= 2) {
    for (const double at : {best - width, best + width}) {
      const double found = error(std::exp(at));
      if (found >= least) continue;
      least = found;
      best = at;
    }
  }
  return std::exp(best);
}

/// A combination of options and its error against the reference.
struct Tried {
  Said said;
  double error = 0;
};

class Search {
 public:
  Search(FitBase base, ReferenceArrays reference, ModelOptions said, const Progress& progress)
      : base_(std::move(base)),
        reference_(std::move(reference)),
        user_(std::move(said)),
        progress_(progress) {}

  Fit run() {
    std::vector<Said> kept = of_first_maps();
    kept = of_layers(kept);
    const Said best = of_readout(kept);
    return found(best);
  }

 private:
  [[nodiscard]] const ModelSpec& spec() const { return base_.architecture.spec; }
  [[nodiscard]] bool has(const char* role) const {
    return base_.architecture.sources.contains(std::string_view(role));
  }
  [[nodiscard]] bool open(const std::string& option) const {
    const SpecMember* const member = find_spec_member(option);
    return !user_.overrides.contains(option) &&
           !(member && (user_.overrides.contains(std::string(member->name)) ||
                        user_.overrides.contains(std::string(member->path))));
  }
  /// Adds the candidate values of one option, unless the user specified it. If the model opens
  /// without the option, its default comes first.
  void add(std::vector<Dimension>& dimensions, const std::string& option,
           std::vector<std::string> values) {
    if (!open(option)) return;
    const std::string usual = option == kQkvRowsOption
                                  ? std::string(enum_name(base_.architecture.qkv_rows))
                                  : option_text(spec(), option);
    if (!base_.asked.contains(option)) {
      std::erase(values, usual);
      values.insert(values.begin(), usual);
    }
    Dimension dimension;
    for (const std::string& value : values) dimension.push_back({{option, value}});
    known_[option] = values;
    dimensions.push_back(std::move(dimension));
  }

  /// Runs the first `layers` layers on all inputs; empty if the combination is invalid.
  [[nodiscard]] std::optional<std::vector<Trace>> traces(const Said& said, std::int64_t layers,
                                                         bool vectors = false) const {
    try {
      return base_.run(said, reference_.inputs, layers, vectors, progress_);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  [[nodiscard]] Dimension positions() {
    Dimension values = {{}};
    const bool free = spec().reads_texts() || spec().input.kind == InputKind::embeddings;
    if (!free || has("positions") || !open("positions")) return values;
    values = {{{"positions", "none"}}};
    for (const char* const order : {"alternating", "halves", "halves_to_end"}) {
      values.push_back({{"positions", "sinusoidal"}, {"positions.sinusoid_order", order}});
    }
    known_["positions"] = {"none", "sinusoidal"};
    known_["positions.sinusoid_order"] = {"alternating", "halves", "halves_to_end"};
    return values;
  }

  /// Candidate values of options that act before queries and keys.
  [[nodiscard]] std::vector<Dimension> before_scores() {
    std::vector<Dimension> dimensions;
    add(dimensions, "norm_position", {"pre", "post"});
    if (!base_.biased_norms) add(dimensions, "norm", {"layer", "rms"});
    if (spec().reads_texts() || has("input_projection.weight")) {
      add(dimensions, "embedding_scale", {"1.0", "0.0"});
    }
    dimensions.push_back(positions());
    if (!base_.heads_apart)
      add(dimensions, "layer.attention.head_split", {"heads_first", "channels_first"});
    if (has("layer.0.qkv.weight")) add(dimensions, kQkvRowsOption, {"parts_first", "heads_first"});
    return dimensions;
  }

  /// Candidate values of options that act on queries and keys.
  [[nodiscard]] std::vector<Said> on_vectors() {
    std::vector<Dimension> dimensions;
    if (!has("layer.0.query_norm.weight"))
      add(dimensions, "layer.attention.cosine", {"false", "true"});
    const bool sequence = spec().layer.rotary.grid == RotaryGrid::sequence &&
                          spec().layer.rotary.scaling == RotaryScaling::none &&
                          spec().reads_texts();
    if (sequence && open("layer.rotary.form")) {
      Dimension rotary = {{{"layer.rotary.form", "none"}}};
      std::vector<std::string> thetas = {"10000.0",  "1000000.0", "500000.0",
                                         "100000.0", "1000.0",    "100.0"};
      if (!open("layer.rotary.theta")) thetas = {option_text(spec(), "layer.rotary.theta")};
      for (const char* const form : {"half", "pair"}) {
        for (const std::string& theta : thetas) {
          rotary.push_back({{"layer.rotary.form", form}, {"layer.rotary.theta", theta}});
        }
      }
      const std::string usual = option_text(spec(), "layer.rotary.form");
      // clang 14 cannot compile std::ranges::stable_partition with GCC's library.
      std::stable_partition(rotary.begin(), rotary.end(), [&](const Said& each) {
        return each.at("layer.rotary.form") == usual;
      });
      known_["layer.rotary.form"] = {"none", "half", "pair"};
      known_["layer.rotary.theta"] = thetas;
      dimensions.push_back(std::move(rotary));
    }
    return product(dimensions);
  }

  /// Queries and keys of the first layer after applying the options in `said`.
  [[nodiscard]] std::vector<ScoredVectors> changed(const std::vector<ScoredVectors>& vectors,
                                                   const Said& said) const {
    ModelSpec own = spec();
    for (const auto& [option, value] : said) apply_override(own, option, value);
    std::vector<ScoredVectors> all = vectors;
    for (ScoredVectors& each : all) {
      for (Tensor* const rows : {&each.queries, &each.keys}) {
        if (own.layer.attention.cosine && said.contains("layer.attention.cosine")) {
          rows->matrix().rowwise().normalize();
        }
        if (own.layer.rotary.form == Rotary::none || !said.contains("layer.rotary.form")) continue;
        const RotaryTurns turns(own.layer.rotary, rows->extent(2), rows->extent(1), {}, {});
        for (std::int64_t head = 0; head < rows->extent(0); ++head) {
          Tensor one({rows->extent(1), rows->extent(2)});
          one.matrix() = std::as_const(*rows).slice(head);
          turns.apply(one, 1);
          rows->slice(head) = one.matrix();
        }
      }
    }
    return all;
  }

  [[nodiscard]] std::map<std::string, double> usual_scales() const {
    const double d = static_cast<double>(spec().width_of_head());
    const double width = static_cast<double>(spec().width);
    return {
        {"head_width^-1/2", 1 / std::sqrt(d)}, {"width^-1/2", 1 / std::sqrt(width)}, {"none", 1}};
  }

  [[nodiscard]] Said as_options(const ScoreForm& form) const {
    Said said;
    if (open("scale")) {
      std::string scale = short_text(form.scale);
      for (const auto& [rule, value] : usual_scales()) {
        if (std::abs(form.scale / value - 1) < kFits) scale = rule;
      }
      const double head_scale = usual_scales().at("head_width^-1/2");
      if (std::abs(form.scale / head_scale - 1) < kFits) scale = "head_width^-1/2";
      said["scale"] = scale;
    }
    if (form.alibi) said["layer.scores.bias"] = "alibi";
    if (form.soft_cap > 0) said["layer.scores.soft_cap"] = short_text(form.soft_cap);
    return said;
  }

  struct Scored {
    Said structure, vectors;
    ScoreForm form;
  };

  /// Sorts by error; combinations that fit count as equal and keep their order.
  static void sort_by_error(std::vector<Scored>& all) {
    std::ranges::stable_sort(all, {}, [](const Scored& each) {
      return each.form.error < kFits ? 0.0 : each.form.error;
    });
  }

  /// The combinations that come nearest to the maps of layer 0, default values first.
  std::vector<Said> of_first_maps() {
    const ScoreFit scores(reference_.first_maps());
    const std::vector<Said> structures = product(before_scores()), vectors = on_vectors();
    Said plain;
    for (const Said& each : vectors) {
      for (const auto& [option, value] : each) {
        plain[option] = option == "layer.rotary.form"        ? "none"
                        : option == "layer.attention.cosine" ? "false"
                                                             : value;
      }
    }
    std::map<Said, std::vector<ScoredVectors>> runs;
    const auto run = [&](const Said& structure) {
      const auto found = traces(joined_choices(structure, plain), 1, true);
      if (!found) return false;
      std::vector<ScoredVectors>& own = runs[structure];
      for (const Trace& trace : *found) {
        own.push_back({trace.layers[0].queries, trace.layers[0].keys});
      }
      return true;
    };
    std::vector<double> usual;
    for (const auto& [rule, value] : usual_scales()) usual.push_back(value);
    const bool may_add = open("layer.scores.bias") && spec().layer.scores.bias == ScoreBias::none &&
                         spec().reads_texts();
    const bool may_cap = open("layer.scores.soft_cap") && spec().layer.scores.soft_cap == 0;
    std::vector<Scored> all;
    const auto score = [&](const Said& structure, const Said& each, bool with_caps) {
      const std::vector<ScoreForm> forms =
          scores.forms(changed(runs.at(structure), each), usual, may_add, with_caps);
      // The simplest form is chosen if several fit.
      const auto simple = std::ranges::find_if(forms, [](const ScoreForm& form) {
        return form.error < kFits && form.scale > 0 && form.soft_cap == 0;
      });
      const ScoreForm& form = simple == forms.end() ? forms.front() : *simple;
      if (form.scale > 0) all.push_back({structure, each, form});
    };
    const auto none_fits = [&] {
      sort_by_error(all);
      return !all.empty() && all.front().form.error >= kFits;
    };
    for (std::size_t i = 0; i < structures.size(); ++i) {
      progress_.step(0.3 * static_cast<double>(i) / static_cast<double>(structures.size()),
                     "layer 0, attention maps");
      if (!run(structures[i])) continue;
      for (const Said& each : vectors) score(structures[i], each, false);
    }
    if (none_fits() && open("norm_eps")) {
      // Only the nearest combinations are tried, because ε has little effect.
      std::vector<Said> nearest;
      for (const Scored& each : all) {
        if (nearest.size() == 8) break;
        if (std::ranges::find(nearest, each.structure) == nearest.end()) {
          nearest.push_back(each.structure);
        }
      }
      for (const Said& structure : nearest) {
        for (const char* const eps : kNormEps) {
          const Said own = joined_choices(structure, {{"norm_eps", eps}});
          if (!run(own)) continue;
          for (const Said& each : vectors) score(own, each, false);
        }
      }
    }
    if (none_fits() && may_cap) {
      all.resize(std::min(all.size(), kMostCapped));
      for (const Scored& each : std::exchange(all, {})) score(each.structure, each.vectors, true);
    }
    sort_by_error(all);
    if (!all.empty() && all.front().form.error >= kFits)
      refine_theta(scores, runs, all, usual, may_add);
    std::vector<Tried> tried;
    for (const Scored& each : all) {
      if (tried.size() >= 2 * kMostKept ||
          (!tried.empty() && tried.size() >= kMostKept && each.form.error >= kFits))
        break;
      const Said said =
          joined_choices(joined_choices(each.structure, each.vectors), as_options(each.form));
      tried.push_back({said, error_in(said, 1, false)});
    }
    return kept(tried);
  }

  /// Solves for θ if none of the usual values fits.
  void refine_theta(const ScoreFit& scores, const std::map<Said, std::vector<ScoredVectors>>& runs,
                    std::vector<Scored>& all, const std::vector<double>& usual,
                    bool may_add) const {
    if (!open("layer.rotary.theta")) return;
    const std::vector<Scored> nearest(all.begin(),
                                      all.begin() + std::min<std::ptrdiff_t>(std::ssize(all), 24));
    for (const Scored& each : nearest) {
      const auto form = each.vectors.find("layer.rotary.form");
      if (form == each.vectors.end() || form->second == "none") continue;
      const std::vector<ScoredVectors>& own = runs.at(each.structure);
      const auto with = [&](double theta) {
        const Said said = joined_choices(each.vectors, {{"layer.rotary.theta", exact(theta)}});
        return scores.forms(changed(own, said), usual, may_add, false).front();
      };
      const double theta = least_of(10, 1e8, 60, [&](double at) { return with(at).error; });
      const std::string text = short_text(theta);
      all.push_back({each.structure, joined_choices(each.vectors, {{"layer.rotary.theta", text}}),
                     with(*parse_number(text))});
    }
    sort_by_error(all);
  }

  /// Greatest difference in the maps of the first `layers` layers; if `after`, also in their
  /// outputs.
  [[nodiscard]] double error_in(const Said& said, std::int64_t layers, bool after) const {
    const auto found = traces(said, layers);
    if (!found) return std::numeric_limits<double>::infinity();
    double error = 0;
    for (std::size_t input = 0; input < found->size(); ++input) {
      const Trace& trace = (*found)[input];
      for (std::int64_t layer = 0; layer < layers; ++layer) {
        const LayerTrace& ours = trace.layers[static_cast<std::size_t>(layer)];
        error =
            std::max(error, difference_of(ours.implied_map.all(), reference_.maps(input, layer)));
        const Tensor* const tokens = after ? reference_.tokens(input, layer) : nullptr;
        if (tokens) error = std::max(error, difference_of(ours.tokens, *tokens));
      }
      const bool whole = layers == spec().layers && !reference_.logits.empty();
      if (after && whole && read_out_) {
        error = std::max(error, difference_of(trace.logits, reference_.logits[input]));
      }
    }
    return error;
  }

  [[nodiscard]] static double least_error(const std::vector<Tried>& tried) {
    return std::ranges::min_element(tried, {}, &Tried::error)->error;
  }

  /// The combinations that are as good as the best, in their order.
  [[nodiscard]] static std::vector<Said> kept(const std::vector<Tried>& tried) {
    if (tried.empty()) return {};
    const double least = least_error(tried);
    std::vector<Said> best;
    for (const Tried& each : tried) {
      if (best.size() < kMostKept && each.error <= as_good_as(least)) best.push_back(each.said);
    }
    return best;
  }

  /// Searches the options that act after the maps of layer 0, using its output or the next layer's
  /// maps.
  std::vector<Said> of_layers(const std::vector<Said>& before) {
    std::vector<Dimension> dimensions;
    if (has("layer.0.mlp1.weight") || has("layer.0.mlp_gate_and_mlp1.weight")) {
      add(dimensions, "activation", {"gelu", "relu", "gelu_tanh", "silu", "quick_gelu", "relu2"});
    }
    add(dimensions, "layer.residual", {"sequential", "parallel", "none"});
    add(dimensions, "norm_eps", {kNormEps.begin(), kNormEps.end()});
    if (open("layer.residual_scale")) {
      const std::string deep = exact(std::pow(2 * static_cast<double>(spec().layers), 0.25));
      add(dimensions, "layer.residual_scale", {"1.0", deep});
    }
    const std::vector<Said> after = product(dimensions);
    const std::int64_t layers =
        reference_.has_tokens() ? 1 : std::min<std::int64_t>(spec().layers, 2);
    read_out_ = !reference_.has_tokens() && spec().layers == 1;
    std::vector<Tried> tried;
    std::vector<Said> begun;
    for (const Said& first : before) std::ranges::copy(variants(first), std::back_inserter(begun));
    for (const Said& first : begun) {
      for (const Said& more : after) {
        progress_.step(0.3 + 0.4 * static_cast<double>(tried.size()) /
                                 static_cast<double>(begun.size() * after.size()),
                       "layer 0, output");
        const Said said = joined_choices(first, more);
        tried.push_back({said, error_in(said, layers, true)});
      }
    }
    if (tried.empty()) return before;
    if (least_error(tried) >= kFits && open("layer.residual_scale")) {
      std::ranges::stable_sort(tried, {}, &Tried::error);
      std::vector<Tried> scaled;
      for (const Tried& each : tried) {
        const auto eps = each.said.find("norm_eps");
        const bool usual_eps =
            eps == each.said.end() || eps->second == option_text(spec(), "norm_eps");
        if (each.said.at("layer.residual_scale") != "1.0" || !usual_eps) continue;
        const auto with = [&](const std::string& scale) {
          return joined_choices(each.said, {{"layer.residual_scale", scale}});
        };
        const double found = least_of(
            0.125, 8, 24, [&](double at) { return error_in(with(exact(at)), layers, true); });
        const Said said = with(short_text(found));
        scaled.push_back({said, error_in(said, layers, true)});
        if (scaled.back().error < kFits || scaled.size() >= 48) break;
      }
      tried.insert(tried.end(), scaled.begin(), scaled.end());
    }
    return kept(tried);
  }

  /// Adds combinations that maps of layer 0 cannot distinguish: the position of norms after a part,
  /// and the order in which heads are joined.
  [[nodiscard]] std::vector<Said> variants(const Said& said) {
    std::vector<Said> all = {said};
    const auto vary = [&](const std::string& option, const std::string& from,
                          const std::string& to) {
      const std::size_t count = all.size();
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = all[i].find(option);
        if (value != all[i].end() && value->second == from)
          all.push_back(joined_choices(all[i], {{option, to}}));
      }
    };
    vary("norm_position", "post", "branch");
    vary("layer.attention.head_split", "channels_first", "channels_then_heads");
    return all;
  }

  Said of_readout(const std::vector<Said>& before) {
    if (before.empty()) return {};
    read_out_ = true;
    std::vector<Dimension> dimensions;
    const bool logits = !reference_.logits.empty();
    if (logits && has("final_norm.weight")) add(dimensions, "final_norm", {"true", "false"});
    if (logits && spec().readout.gives_token_logits()) {
      add(dimensions, "logit_scale", {"1.0", "0.0"});
      add(dimensions, "readout.soft_cap", {"0.0", "30.0"});
    }
    if (logits && spec().reads_texts() && spec().readout.kind == Readout::none) {
      add(dimensions, "readout", {"none", "next_token"});
    }
    std::vector<Tried> tried;
    for (const Said& first : before) {
      for (const Said& more : product(dimensions)) {
        progress_.step(
            0.7 + 0.2 * static_cast<double>(tried.size()) / static_cast<double>(before.size() * 8),
            "logits");
        const Said said = joined_choices(first, more);
        tried.push_back({said, error_in(said, spec().layers, true)});
      }
    }
    return kept(tried).front();
  }

  /// Collects the evidence for each option, and the agreement of each part.
  [[nodiscard]] Fit found(const Said& best) {
    Fit fit;
    fit.options = joined_choices(joined_choices(base_.given, best), user_.overrides);
    const double own = error_in(best, spec().layers, true);
    for (const auto& [option, value] : fit.options) {
      FittedChoice choice{.option = option, .value = value};
      progress_.step(0.9, "evidence");
      double least = std::numeric_limits<double>::infinity();
      std::vector<std::string> others;
      if (const auto known = known_.find(option); known != known_.end()) others = known->second;
      if (option == "scale") {
        for (const auto& [rule, number] : usual_scales()) others.push_back(rule);
      }
      if (option == "layer.scores.soft_cap") others = {"0.0"};
      if (option == "layer.scores.bias") others = {"none"};
      for (const std::string& other : others) {
        if (other == value || !best.contains(option)) continue;
        const double error = error_in(joined_choices(best, {{option, other}}), spec().layers, true);
        if (error >= least) continue;
        least = error;
        choice.other = other;
        choice.difference = error;
      }
      choice.determined = choice.other.empty() || choice.difference > as_good_as(own);
      fit.choices.push_back(std::move(choice));
    }
    const std::vector<Trace> all =
        base_.run(best, reference_.inputs, spec().layers, false, progress_);
    for (std::int64_t layer = 0; layer < spec().layers; ++layer) {
      FittedPart maps{"layer " + std::to_string(layer) + ", attention maps", 0};
      FittedPart tokens{"layer " + std::to_string(layer) + ", output", 0};
      for (std::size_t input = 0; input < all.size(); ++input) {
        const LayerTrace& ours = all[input].layers[static_cast<std::size_t>(layer)];
        maps.difference = std::max(
            maps.difference, difference_of(ours.implied_map.all(), reference_.maps(input, layer)));
        if (const Tensor* of = reference_.tokens(input, layer))
          tokens.difference = std::max(tokens.difference, difference_of(ours.tokens, *of));
      }
      fit.parts.push_back(maps);
      if (reference_.has_tokens()) fit.parts.push_back(tokens);
    }
    FittedPart logits{"logits", 0};
    for (std::size_t input = 0; input < reference_.logits.size(); ++input) {
      logits.difference =
          std::max(logits.difference, difference_of(all[input].logits, reference_.logits[input]));
    }
    if (!reference_.logits.empty()) fit.parts.push_back(logits);
    progress_.step(1);
    return fit;
  }

  FitBase base_;
  ReferenceArrays reference_;
  ModelOptions user_;
  const Progress& progress_;
  std::map<std::string, std::vector<std::string>> known_;  ///< values that were tried, by option
  bool read_out_ = false;                                  ///< true if logits are compared
};

}  // namespace

const FittedPart* Fit::first_difference() const {
  const auto first = std::ranges::find_if(
      parts, [](const FittedPart& part) { return !(part.difference <= self_test_tolerance); });
  return first == parts.end() ? nullptr : &*first;
}

Fit fit_model(const std::filesystem::path& file, const std::filesystem::path& reference,
              const ModelOptions& said, const Progress& progress) {
  ReferenceArrays arrays = with_file(reference, [&] { return read_reference(reference); });
  FitBase base = open_for_fit(file, said, arrays.options());
  const std::int64_t layers = base.architecture.spec.layers;
  if (std::ssize(arrays.all_maps.front()) != layers) {
    throw Error(ErrorKind::damaged, "the reference has a different number of layers")
        .in_file(reference)
        .about("maps")
        .expected(std::to_string(layers))
        .found(std::to_string(arrays.all_maps.front().size()));
  }
  Fit fit = Search(std::move(base), std::move(arrays), said, progress).run();
  fit.reference = reference;
  return fit;
}

}  // namespace attnscope
