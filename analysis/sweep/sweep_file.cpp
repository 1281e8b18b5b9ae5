#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/sweep/result_file.h"
#include "analysis/sweep/sweep.h"
#include "core/file/atomic_file.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr ResultFormat kFormat = {
    .name = "attnscope-sweep",
    .noun = "sweep",
    .is_other = "the file is not the result of a sweep",
    .remedy = "make one: attnscope sweep MODEL --dataset D --out R.h5"};

std::string layer_path(std::size_t series, std::size_t layer) {
  char text[64];
  std::snprintf(text, sizeof text, "series_%02zu/layer_%02zu/", series, layer);
  return text;
}

json describe_contents(const SweepResult& result) {
  json contents = {{"data_set", result.data_set},
                   {"fingerprint", result.fingerprint},
                   {"first", result.first},
                   {"count", result.count},
                   {"done", result.done},
                   {"thresholds", result.thresholds},
                   {"items", result.items},
                   {"seed", result.seed},
                   {"share", name_of(rank_share_names, result.share)},
                   {"series", json::array()}};
  contents["numbers"] = {{"of", name_of(matrix_kind_names, result.numbers.analysed.of)},
                         {"centred", result.numbers.analysed.centred},
                         {"added", name_of(added_names, result.numbers.analysed.added)},
                         {"heads", result.numbers.heads},
                         {"baselines", result.numbers.baselines},
                         {"at_entropy", nullptr}};
  if (result.numbers.at_entropy) contents["numbers"]["at_entropy"] = *result.numbers.at_entropy;
  for (const SweepSeries& series : result.series) {
    json layers = json::array();
    for (const LayerSweep& layer : series.layers) {
      json names = json::array();
      for (const auto& [name, sums] : layer.statistics) names.push_back(name);
      layers.push_back({{"heads", layer.heads}, {"values", layer.values}, {"statistics", names}});
    }
    contents["series"].push_back({{"label", series.label},
                                  {"model", series.model},
                                  {"mechanism", series.mechanism},
                                  {"identity", series.identity},
                                  {"labelled", series.labelled},
                                  {"correct", series.correct},
                                  {"status", series.status},
                                  {"layers", layers}});
  }
  return contents;
}

/// Visits each array of a layer with its shape; shared by writing and reading.
template <class Layer, class Visit>
void visit_arrays(Layer& layer, std::int64_t thresholds, Visit visit) {
  const std::int64_t h = layer.heads, n = layer.values;
  visit("maps", Shape{h}, layer.maps);
  visit("left_out", Shape{h}, layer.left_out);
  visit("share_sums", Shape{h, n}, layer.share_sums);
  visit("share_squares", Shape{h, n}, layer.share_squares);
  visit("ranks", Shape{thresholds, h, n + 1}, layer.ranks);
  visit("effective_ranks", Shape{h, 2}, layer.effective_ranks);
  visit("stable_ranks", Shape{h, 2}, layer.stable_ranks);
  if (layer.null_spectra) {
    visit("null_maps", Shape{h}, layer.null_maps);
    visit("null_share_sums", Shape{h, n}, layer.null_share_sums);
    visit("null_share_squares", Shape{h, n}, layer.null_share_squares);
  }
  for (auto& [name, sums] : layer.statistics) {
    const std::string group = "statistics/" + name + "/";
    visit(group + "counts", Shape{h}, sums.counts);
    visit(group + "sums", Shape{h}, sums.sums);
    visit(group + "squares", Shape{h}, sums.squares);
    visit(group + "least", Shape{h}, sums.least);
    visit(group + "greatest", Shape{h}, sums.greatest);
  }
}

std::int64_t within(const json& value, std::int64_t least, std::int64_t most) {
  return whole_within(kFormat, value, least, most);
}

SweepResult read_contents(const Checkpoint& file, const json& contents) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40, kMostExtent = 1 << 20;
  SweepResult result;
  result.data_set = contents.at("data_set");
  result.fingerprint = contents.at("fingerprint");
  result.first = within(contents.at("first"), 0, kMost);
  result.count = within(contents.at("count"), 0, kMost);
  result.done = within(contents.at("done"), 0, result.count);
  result.items = within(contents.at("items"), result.count, kMost);
  result.seed = static_cast<std::uint32_t>(within(contents.at("seed"), 0, 0xffffffff));
  result.thresholds = contents.at("thresholds").get<std::vector<double>>();
  result.share =
      value_of(rank_share_names, contents.at("share").get<std::string>(), "share of the threshold");
  const json& numbers = contents.at("numbers");
  result.numbers.analysed.of = matrix_kind_named(numbers.at("of").get<std::string>());
  result.numbers.analysed.centred = numbers.at("centred");
  result.numbers.analysed.added =
      value_of(added_names, numbers.at("added").get<std::string>(), "addition of layers");
  result.numbers.heads = numbers.at("heads");
  result.numbers.baselines = numbers.at("baselines");
  if (const json& entropy = numbers.at("at_entropy"); !entropy.is_null()) {
    result.numbers.at_entropy = entropy.get<double>();
  }
  for (const json& described : contents.at("series")) {
    SweepSeries series;
    series.label = described.at("label");
    series.model = described.at("model");
    series.mechanism = described.at("mechanism");
    series.identity = described.at("identity");
    series.status = described.at("status");
    series.labelled = within(described.at("labelled"), 0, result.count);
    series.correct = within(described.at("correct"), 0, series.labelled);
    for (const json& extents : described.at("layers")) {
      LayerSweep layer;
      layer.heads = within(extents.at("heads"), 0, kMostExtent);
      layer.values = within(extents.at("values"), 0, kMostExtent);
      layer.null_spectra = result.numbers.baselines;
      for (const json& name : extents.at("statistics")) {
        layer.statistics[name.get<std::string>()];
      }
      const std::string path = layer_path(result.series.size(), series.layers.size());
      visit_arrays(layer, std::ssize(result.thresholds),
                   [&](const std::string& name, const Shape& shape, auto& values) {
                     read_result_array(kFormat, file, path + name, shape, values);
                   });
      series.layers.push_back(std::move(layer));
    }
    result.series.push_back(std::move(series));
  }
  return result;
}

}  // namespace

void write_sweep(const std::filesystem::path& file, const SweepResult& result) {
  Hdf5Writer writer;
  describe_result(kFormat, describe_contents(result), writer);
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    for (std::size_t l = 0; l < result.series[s].layers.size(); ++l) {
      const std::string path = layer_path(s, l);
      visit_arrays(result.series[s].layers[l], std::ssize(result.thresholds),
                   [&](const std::string& name, const Shape& shape, const auto& values) {
                     if (element_count(shape) > 0) writer.data(path + name, shape, values);
                   });
    }
  }
  write_file(file, writer.bytes());
}

SweepResult read_sweep(const std::filesystem::path& file) {
  SweepResult result;
  read_result(file, kFormat, [&](const Checkpoint& stored, const json& contents) {
    result = read_contents(stored, contents);
  });
  return result;
}

}  // namespace attnscope
