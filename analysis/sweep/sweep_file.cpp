#include "analysis/sweep/sweep_file.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "attnscope-sweep";
constexpr std::int64_t kVersion = 1;

std::string layer_path(std::size_t series, std::size_t layer) {
  char text[64];
  std::snprintf(text, sizeof text, "series_%02zu/layer_%02zu/", series, layer);
  return text;
}

json describe_contents(const SweepResult& result) {
  json contents = {{"data_set", result.data_set}, {"fingerprint", result.fingerprint},
                   {"first", result.first},       {"count", result.count},
                   {"done", result.done},         {"thresholds", result.thresholds},
                   {"items", result.items},       {"series", json::array()}};
  if (result.seed) contents["seed"] = *result.seed;
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
                                  {"layers", layers}});
  }
  return contents;
}

/// Each array of a layer with its shape: what writing and reading agree on.
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
  for (auto& [name, sums] : layer.statistics) {
    const std::string group = "statistics/" + name + "/";
    visit(group + "counts", Shape{h}, sums.counts);
    visit(group + "sums", Shape{h}, sums.sums);
    visit(group + "squares", Shape{h}, sums.squares);
    visit(group + "least", Shape{h}, sums.least);
    visit(group + "greatest", Shape{h}, sums.greatest);
  }
}

template <class Number>
constexpr DType stored_type() {
  return std::is_same_v<Number, double> ? DType::f64 : DType::i64;
}

template <class Number>
void read_array(const Checkpoint& file, const std::string& name, const Shape& shape,
                std::vector<Number>& values) {
  const StoredTensor& stored = file.at(name);
  if (stored.dtype != stored_type<Number>() || stored.shape != shape) {
    throw Error(ErrorKind::damaged, "an array of the sweep does not fit the rest")
        .in_file(file.path())
        .about(name)
        .expected(to_string(shape))
        .found(to_string(stored.shape));
  }
  const TensorView view = stored.view();
  values.resize(static_cast<std::size_t>(element_count(shape)));
  // The reader gives whole data sets: contiguous.
  std::memcpy(values.data(), view.data, values.size() * sizeof(Number));
}

std::int64_t within(const json& value, std::int64_t least, std::int64_t most) {
  const auto number = value.get<std::int64_t>();
  if (number < least || number > most) {
    throw Error(ErrorKind::damaged, "a number of the sweep is out of range")
        .expected(std::to_string(least) + " to " + std::to_string(most))
        .found(std::to_string(number));
  }
  return number;
}

SweepResult read_contents(const Checkpoint& file, const json& contents) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40, kMostExtent = 1 << 20;
  SweepResult result;
  result.data_set = contents.at("data_set");
  result.fingerprint = contents.at("fingerprint");
  result.first = within(contents.at("first"), 0, kMost);
  result.count = within(contents.at("count"), 0, kMost);
  result.done = within(contents.at("done"), 0, result.count);
  result.items = within(contents.value("items", json(0)), 0, kMost);
  if (const auto seed = contents.find("seed"); seed != contents.end()) {
    result.seed = static_cast<std::uint32_t>(within(*seed, 0, 0xffffffff));
  }
  result.thresholds = contents.at("thresholds").get<std::vector<double>>();
  for (const json& described : contents.at("series")) {
    SweepSeries series;
    series.label = described.at("label");
    series.model = described.at("model");
    series.mechanism = described.at("mechanism");
    series.identity = described.at("identity");
    series.labelled = within(described.at("labelled"), 0, result.count);
    series.correct = within(described.at("correct"), 0, series.labelled);
    for (const json& extents : described.at("layers")) {
      LayerSweep layer;
      layer.heads = within(extents.at("heads"), 0, kMostExtent);
      layer.values = within(extents.at("values"), 0, kMostExtent);
      for (const json& name : extents.at("statistics")) {
        layer.statistics[name.get<std::string>()];
      }
      const std::string path = layer_path(result.series.size(), series.layers.size());
      visit_arrays(layer, std::ssize(result.thresholds),
                   [&](const std::string& name, const Shape& shape, auto& values) {
                     if (element_count(shape) > 0) read_array(file, path + name, shape, values);
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
  writer.attribute("/", "format", std::string(kFormat));
  writer.attribute("/", "format_version", kVersion);
  writer.attribute("/", "contents",
                   describe_contents(result).dump(-1, ' ', false, json::error_handler_t::replace));
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
  const Checkpoint stored = open_checkpoint(file);
  const auto format = stored.metadata().find("format");
  const auto version = stored.metadata().find("format_version");
  const auto contents = stored.metadata().find("contents");
  if (format == stored.metadata().end() || format->second != kFormat ||
      contents == stored.metadata().end()) {
    throw Error(ErrorKind::not_this_format, "this is no result of a sweep")
        .in_file(file)
        .remedy("make one: attnscope sweep MODEL --dataset D --out R.h5");
  }
  if (version == stored.metadata().end() || version->second != std::to_string(kVersion)) {
    throw Error(ErrorKind::unsupported, "the sweep is of another version of the program")
        .in_file(file);
  }
  try {
    return read_contents(stored, parse_json(contents->second));
  } catch (const json::exception& error) {
    throw Error(ErrorKind::damaged,
                std::string("the sweep's description is broken: ") + error.what())
        .in_file(file);
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
