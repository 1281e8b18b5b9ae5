#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/intervention/study.h"
#include "analysis/sweep/result_file.h"
#include "core/file/atomic_file.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr ResultFormat kStudyFormat = {
    .name = "attnscope-study",
    .noun = "study",
    .is_other = "the file is not a study of changed maps",
    .remedy = "make one: attnscope truncate MODEL --dataset D --out R.h5, or attnscope ablate"};
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
                   {"threshold", result.threshold.level},
                   {"share", name_of(rank_share_names, result.threshold.of)},
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
                                  {"null_ranks", series.null_ranks},
                                  {"columns", columns}});
  }
  return contents;
}

std::string series_path(std::size_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "series_%02zu/", index);
  return text;
}

/// Visits each array of a series with its name and shape, for both writing and reading.
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
  if (!series.null_ranks) return;
  visit("null_sums", Shape{n}, series.null_sums);
  visit("ratio_sums", Shape{n}, series.ratio_sums);
  visit("null_maps", Shape{n}, series.null_maps);
}

std::int64_t index_within(const json& value, std::int64_t least, std::int64_t most) {
  return whole_within(kStudyFormat, value, least, most);
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
  result.threshold.level = contents.at("threshold");
  result.threshold.of =
      value_of(rank_share_names, contents.at("share").get<std::string>(), "share of the threshold");
  for (const json& described : contents.at("series")) {
    StudySeries series;
    series.label = described.at("label");
    series.model = described.at("model");
    series.mechanism = described.at("mechanism");
    series.count = index_within(described.at("count"), 0, most);
    series.done = index_within(described.at("done"), 0, series.count);
    series.greatest_rank = index_within(described.at("greatest_rank"), 0, most);
    series.null_ranks = described.at("null_ranks");
    for (const json& column : described.at("columns")) {
      series.columns.push_back({.name = column.at("name"),
                                .layer = index_within(column.at("layer"), -1, most_extent),
                                .head = index_within(column.at("head"), -1, most_extent),
                                .rank = index_within(column.at("rank"), 0, most)});
    }
    const std::string path = series_path(result.series.size());
    visit_study_arrays(series, [&](const char* name, const Shape& shape, auto& values) {
      read_result_array(kStudyFormat, file, path + name, shape, values);
    });
    result.series.push_back(std::move(series));
  }
  return result;
}

}  // namespace

void write_study(const std::filesystem::path& file, const StudyResult& result) {
  Hdf5Writer writer;
  describe_result(kStudyFormat, description_of(result), writer);
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
  StudyResult result;
  read_result(file, kStudyFormat, [&](const Checkpoint& stored, const json& contents) {
    result = contents_of(stored, contents);
  });
  return result;
}

}  // namespace attnscope
