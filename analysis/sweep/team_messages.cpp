#include "analysis/sweep/team_messages.h"

#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>

namespace attnscope {

template <class Archive>
void serialize(Archive& archive, MapRecord& map) {
  archive(map.ready, map.share, map.ranks, map.effective_rank, map.stable_rank, map.null_share_sums,
          map.null_share_squares);
}

template <class Archive>
void serialize(Archive& archive, LayerRecord& layer) {
  archive(layer.heads, layer.values, layer.maps, layer.statistics);
}

template <class Archive>
void serialize(Archive& archive, SeriesRecord& series) {
  archive(series.label, series.identity, series.correct, series.layers);
}

template <class Archive>
void serialize(Archive& archive, InputBlock& block) {
  archive(block.labels, block.records);
}

template <class Archive>
void serialize(Archive& archive, TeamOrder& order) {
  archive(order.end, order.done, order.fingerprint);
}

template <class Archive>
void save(Archive& archive, const Error& error) {
  archive(error.kind(), error.message(), error.file().string(), error.subject(),
          error.expected_text(), error.found_text(), error.remedy_text());
}

template <class Archive>
void load(Archive& archive, Error& error) {
  ErrorKind kind{};
  std::string message, file, subject, expected, found, remedy;
  archive(kind, message, file, subject, expected, found, remedy);
  error = Error(kind, message)
              .in_file(file)
              .about(subject)
              .expected(expected)
              .found(found)
              .remedy(remedy);
}

template <class Archive>
void serialize(Archive& archive, TeamReport& report) {
  archive(report.kind, report.inputs, report.failure);
}

namespace {

template <class What>
ProcessTeam::Message bytes_of(const What& what) {
  std::ostringstream stream;
  cereal::BinaryOutputArchive{stream}(what);
  const std::string text = stream.str();
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

template <class What>
What from_bytes(const ProcessTeam::Message& message) {
  std::istringstream stream(
      std::string(reinterpret_cast<const char*>(message.data()), message.size()));
  What what;
  cereal::BinaryInputArchive{stream}(what);
  return what;
}

}  // namespace

ProcessTeam::Message encoded(const TeamOrder& order) { return bytes_of(order); }
ProcessTeam::Message encoded(const TeamReport& report) { return bytes_of(report); }
TeamOrder decoded_order(const ProcessTeam::Message& message) {
  return from_bytes<TeamOrder>(message);
}
TeamReport decoded_report(const ProcessTeam::Message& message) {
  return from_bytes<TeamReport>(message);
}

}  // namespace attnscope
