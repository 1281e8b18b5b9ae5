#include "analysis/intervention/study_file.h"

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/parameters/enum_names.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr const char* kStudyFormat = "attnscope-study";
constexpr std::int64_t kStudyVersion = 1;
constexpr EnumName<StudyKind> study_kind_names[] = {{StudyKind::truncation, "truncation"},
                                                    {StudyKind::ablation, "ablation"}};

json description_of(const StudyResult& result) {
  json contents = {{"kind", name_of(study_kind_names, result.kind)},
                   {"of_text", result.of_text},
                   {"data", result.data},
                   {"description", result.description},
                   {"fingerprint", result.fingerprint},
                   {"items", result.items},
                   {"seed", result.seed},
                   {"threshold", result.threshold},
                   {"series", json::array()}};
  for (const StudySeries& series : result.series) {
    json columns = json::array();
    for (const StudySeries::Column& column : series.columns) {
      columns.push_back({{"name", column.name},
                         {"layer", column.layer},
                         {"head", column.head},
                         {"rank", column.rank}});
    }
    contents["series"].push_back({{"label", series.label},
                                  {"model", series.model},
                                  {"mechanism", series.mechanism},
                                  {"count", series.count},
                                  {"done", series.done},
                                  {"greatest_rank", series.greatest_rank},
                                  {"columns", columns}});
  }
  return contents;
}

std::string series_path(std::size_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "series_%02zu/", index);
  return text;
}

/// Each array of a series with its shape: what writing and reading agree on.
template <class Series, class Visit>
void visit_study_arrays(Series& series, Visit visit) {
  const std::int64_t n = series.done, columns = std::ssize(series.columns);
  visit("predicted", Shape{n}, series.predicted);
  visit("characters", Shape{n}, series.characters);
  visit("correct", Shape{n, columns}, series.correct);
  visit("not_finite", Shape{n, columns}, series.not_finite);
  visit("nats", Shape{n, columns}, series.nats);
  visit("divergence", Shape{n, columns}, series.divergence);
  visit("rank_sums", Shape{n}, series.rank_sums);
  visit("rank_maps", Shape{n}, series.rank_maps);
}

template <class Number>
void read_study_array(const Checkpoint& file, const std::string& name, const Shape& shape,
                      std::vector<Number>& values) {
  constexpr DType type = std::is_same_v<Number, double> ? DType::f64 : DType::i64;
  const StoredTensor& stored = file.at(name);
  if (stored.dtype != type || stored.shape != shape) {
    throw Error(ErrorKind::damaged, "an array of the study does not fit the rest")
        .about(name)
        .expected(to_string(shape))
        .found(to_string(stored.shape));
  }
  const TensorView view = stored.view();
  values.resize(static_cast<std::size_t>(element_count(shape)));
  // The reader gives whole data sets: contiguous.
  std::memcpy(values.data(), view.data, values.size() * sizeof(Number));
}

std::int64_t index_within(const json& value, std::int64_t least, std::int64_t most) {
  const auto number = value.get<std::int64_t>();
  if (number >= least && number <= most) return number;
  throw Error(ErrorKind::damaged, "a number of the study is out of range")
      .expected(std::to_string(least) + " to " + std::to_string(most))
      .found(std::to_string(number));
}

StudyResult contents_of(const Checkpoint& file, const json& contents) {
  constexpr std::int64_t most = std::int64_t{1} << 40, most_extent = std::int64_t{1} << 20;
  StudyResult result;
  result.kind = value_of(study_kind_names, contents.at("kind").get<std::string>(), "study");
  result.of_text = contents.at("of_text");
  result.data = contents.at("data");
  result.description = contents.at("description");
  result.fingerprint = contents.at("fingerprint");
  result.items = index_within(contents.at("items"), 0, most);
  result.seed = contents.at("seed");
  result.threshold = contents.at("threshold");
  for (const json& described : contents.at("series")) {
    StudySeries series;
    series.label = described.at("label");
    series.model = described.at("model");
    series.mechanism = described.at("mechanism");
    series.count = index_within(described.at("count"), 0, most);
    series.done = index_within(described.at("done"), 0, series.count);
    series.greatest_rank = index_within(described.at("greatest_rank"), 0, most);
    for (const json& column : described.at("columns")) {
      series.columns.push_back({.name = column.at("name"),
                                .layer = index_within(column.at("layer"), -1, most_extent),
                                .head = index_within(column.at("head"), -1, most_extent),
                                .rank = index_within(column.at("rank"), 0, most)});
    }
    const std::string path = series_path(result.series.size());
    visit_study_arrays(series, [&](const char* name, const Shape& shape, auto& values) {
      if (element_count(shape) > 0) read_study_array(file, path + name, shape, values);
    });
    result.series.push_back(std::move(series));
  }
  return result;
}

}  // namespace

void write_study(const std::filesystem::path& file, const StudyResult& result) {
  Hdf5Writer writer;
  writer.attribute("/", "format", std::string(kStudyFormat));
  writer.attribute("/", "format_version", kStudyVersion);
  writer.attribute("/", "contents",
                   description_of(result).dump(-1, ' ', false, json::error_handler_t::replace));
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    const std::string path = series_path(s);
    visit_study_arrays(result.series[s],
                       [&](const char* name, const Shape& shape, const auto& values) {
                         if (element_count(shape) > 0) writer.data(path + name, shape, values);
                       });
  }
  write_file(file, writer.bytes());
}

StudyResult read_study(const std::filesystem::path& file) {
  const Checkpoint stored = open_checkpoint(file);
  const auto format = stored.metadata().find("format");
  const auto version = stored.metadata().find("format_version");
  const auto contents = stored.metadata().find("contents");
  if (format == stored.metadata().end() || format->second != kStudyFormat ||
      contents == stored.metadata().end()) {
    throw Error(ErrorKind::not_this_format, "the file is no study of changed maps")
        .in_file(file)
        .remedy("make one: attnscope truncate MODEL --dataset D --out R.h5, or attnscope ablate");
  }
  if (version == stored.metadata().end() || version->second != std::to_string(kStudyVersion)) {
    throw Error(ErrorKind::unsupported, "the study is of another version of the program")
        .in_file(file);
  }
  try {
    return contents_of(stored, parse_json(contents->second));
  } catch (const json::exception& error) {
    throw Error(ErrorKind::damaged,
                std::string("the study's description is broken: ") + error.what())
        .in_file(file);
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
