#include "app/bridge/served_models.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <limits>
#include <utility>
#include <variant>

#include "analysis/heads/head_table.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/tables/reports.h"
#include "analysis/tables/spectrum_report.h"
#include "app/bridge/answer.h"
#include "core/attention/mechanism.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "core/parameters/parameters_json.h"
#include "core/platform/scratch_folder.h"
#include "core/shown_text.h"
#include "core/text/failure.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostEntries = 10'000, kMostSubjects = 64;
constexpr std::int64_t kMostTile = 4096;  // pixels of a side

/// The member `key`. Throws Error(usage) if it is missing or of another type.
template <class Value>
Value member(const json& header, const char* key, const char* expected) {
  try {
    return header.at(key).get<Value>();
  } catch (const json::exception&) {
    throw invalid_member(header, key, expected);
  }
}

std::int64_t number_between(const json& header, const char* key, std::int64_t first,
                            std::int64_t last) {
  const auto number = member<std::int64_t>(header, key, "a whole number");
  if (number >= first && number <= last) return number;
  throw Error(ErrorKind::usage, "the number is out of range")
      .about(key)
      .expected(std::to_string(first) + " to " + std::to_string(last))
      .found(std::to_string(number));
}

/// A member that is an object, or an empty object if it is missing.
json object_in(const json& header, const char* key) {
  json object = header.value(key, json::object());
  if (!object.is_object()) throw invalid_member(header, key, "an object");
  return object;
}

/// The mechanism of a message for a model trained with `trained`. Its parameters may be texts, as
/// on the command line.
MechanismChoice mechanism_in(const json& header, const MechanismChoice& trained) {
  MechanismChoice choice = trained;
  if (header.contains("mechanism")) {
    const auto name = member<std::string>(header, "mechanism", "the name of a mechanism");
    if (name != trained.name) choice = {name, {}};
  }
  const MechanismEntry& entry = find_mechanism(choice.name);
  for (const auto& [key, value] : parameters_from_json(object_in(header, "parameters").dump())) {
    const auto* const text = std::get_if<std::string>(&value);
    choice.parameters[key] =
        text ? parse_parameter(description_of(choice.name, entry.parameters, key), *text) : value;
  }
  return make_mechanism(choice)->choice();
}

json layers_of(const Trace& trace) {
  json layers = json::array();
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    layers.push_back({{"heads", trace.heads(layer)},
                      {"queries", trace.queries(layer)},
                      {"keys", trace.keys(layer)}});
  }
  return layers;
}

json kind_of(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (entry.is_directory(ignored)) return "folder";
  return entry.is_regular_file(ignored) ? "file" : "other";
}

/// Means of the cells of a map that fall on each pixel, [height, width]. `part` of the map: its
/// first row and column, and their numbers.
std::vector<float> pixels_of(const ImpliedMaps& maps, std::int64_t head,
                             const std::array<std::int64_t, 4>& part, std::int64_t height,
                             std::int64_t width) {
  const auto [top, left, rows, columns] = part;
  std::vector<float> pixels, row(static_cast<std::size_t>(columns));
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t first = y * rows / height, end = (y + 1) * rows / height;
    std::ranges::fill(sums, 0);
    for (std::int64_t query = first; query < end; ++query) {
      maps.row(head, top + query, left, row);
      for (std::int64_t key = 0; key < columns; ++key) {
        const std::int64_t x = ((key + 1) * width - 1) / columns;
        sums[static_cast<std::size_t>(x)] +=
            static_cast<double>(row[static_cast<std::size_t>(key)]);
      }
    }
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t cells = (end - first) * ((x + 1) * columns / width - x * columns / width);
      pixels.push_back(
          static_cast<float>(sums[static_cast<std::size_t>(x)] / static_cast<double>(cells)));
    }
  }
  return pixels;
}

}  // namespace

ServedModels::ServedModels(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    std::error_code failure;
    folders_.push_back(fs::canonical(folder, failure));
    if (failure || !fs::is_directory(folders_.back(), failure)) {
      throw Error(ErrorKind::io, "the folder does not exist").in_file(folder);
    }
  }
}

ServedModels::~ServedModels() = default;

ServedModels::Reply ServedModels::handle(const Frame& message) {
  try {
    Reply reply = carry_out(message);
    reply.header["ok"] = true;
    json arrays = json::array();
    for (const TraceArray& array : reply.arrays) {
      arrays.push_back(
          {{"name", array.name}, {"dtype", name_of(array.dtype)}, {"shape", array.shape}});
    }
    if (!arrays.empty()) reply.header["arrays"] = std::move(arrays);
    return reply;
  } catch (const std::exception& failure) {
    return {answer_of(as_error(failure)), {}};
  }
}

ServedModels::Reply ServedModels::carry_out(const Frame& message) {
  const json& header = message.header;
  const auto what = member<std::string>(header, "message", "the name of a message");
  if (what == "hello") {
    check_version(header);
    json folders = json::array();
    for (const fs::path& folder : folders_) folders.push_back(folder.string());
    return {{{"version", kProtocolVersion}, {"program", ATTNSCOPE_VERSION}, {"folders", folders}},
            {}};
  }
  if (what == "list") return list(header);
  if (what == "open") return open(header);
  if (what == "run") return run(message);
  if (what == "trace") return trace(header);
  if (what == "tile") return tile(header);
  if (what == "table") return table(header);
  if (what == "close") return close(header);
  throw unknown_name("message", shown_text(what.substr(0, 80)),
                     "hello, list, open, run, trace, tile, table, close");
}

fs::path ServedModels::below(const std::string& path) const {
  std::error_code failure;
  fs::path whole = fs::weakly_canonical(fs::path(path), failure);
  const auto is_inside = [&](const fs::path& folder) {
    return std::ranges::mismatch(folder, whole).in1 == folder.end();
  };
  if (failure || !fs::path(path).is_absolute() || !std::ranges::any_of(folders_, is_inside)) {
    throw Error(ErrorKind::usage, "the path is not below a folder that is served")
        .about(shown_text(path.substr(0, 200)))
        .remedy("name its folder: attnscope serve --stdio FOLDER");
  }
  return whole;
}

ServedModels::Reply ServedModels::list(const json& header) const {
  const fs::path folder = below(member<std::string>(header, "path", "an absolute path"));
  std::error_code failure;
  fs::directory_iterator entries(folder, failure);
  if (failure) {
    throw Error(ErrorKind::io, "the folder cannot be listed: " + failure.message()).in_file(folder);
  }
  std::map<std::string, json> found;  // sorted by name
  for (const fs::directory_entry& entry : entries) {
    if (found.size() == kMostEntries) break;
    std::error_code unknown;
    const std::uintmax_t bytes = entry.file_size(unknown);
    const std::string name = entry.path().filename().string();
    found[name] = {
        {"name", name}, {"kind", kind_of(entry)}, {"bytes", unknown ? json() : json(bytes)}};
  }
  json list = json::array();
  for (auto& [name, entry] : found) list.push_back(std::move(entry));
  return {{{"entries", std::move(list)}}, {}};
}

ServedModels::Reply ServedModels::added(Subject subject) {
  if (subjects_.size() >= kMostSubjects) {
    throw Error(ErrorKind::usage, "too many models and traces are open")
        .expected("at most " + std::to_string(kMostSubjects))
        .remedy("close some of them");
  }
  json words = {{"id", ++last_id_},
                {"kind", subject.trace ? "trace" : "model"},
                {"name", subject.label},
                {"mechanism", to_string(subject.mechanism)}};
  if (subject.trace) words["layers"] = layers_of(*subject.trace);
  subjects_[last_id_] = std::move(subject);
  return {std::move(words), {}};
}

ModelOptions ServedModels::options(const json& header) const {
  ModelOptions options;
  const json given = object_in(header, "options");
  for (const auto& [key, value] : given.items()) {
    options.overrides[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  if (header.contains("architecture")) {
    options.description = below(member<std::string>(header, "architecture", "an absolute path"));
  }
  return options;
}

ServedModels::Reply ServedModels::open(const json& header) {
  const fs::path file = below(member<std::string>(header, "path", "an absolute path"));
  Subject subject;
  if (is_trace_file(file)) {
    subject.trace = std::make_shared<const Trace>(read_trace(file));
    subject.label = subject.trace->model_name;
    subject.mechanism = subject.trace->mechanism;
  } else {
    subject.model = load_model(file, options(header));
    subject.label = subject.model->name();
    subject.mechanism = subject.model->spec().mechanism;
  }
  return added(std::move(subject));
}

const Subject& ServedModels::subject(const json& header, bool with_trace) const {
  const auto found = subjects_.find(member<std::int64_t>(header, "id", "the id of an answer"));
  if (found == subjects_.end() || (with_trace ? !found->second.trace : !found->second.model)) {
    throw Error(ErrorKind::usage, "nothing of this kind is open under this id")
        .about("id")
        .expected(with_trace ? "a trace" : "a model")
        .found(header.at("id").dump());
  }
  return found->second;
}

std::shared_ptr<const Input> ServedModels::input(const Frame& message) {
  const auto name = member<std::string>(message.header, "input", "a locator, or a file's name");
  const auto sent = std::ranges::find(message.arrays, "input", &StoredTensor::name);
  if (sent == message.arrays.end()) {
    if (!is_written_out(name)) (void)below(name.substr(0, name.rfind('#')));
    return std::make_shared<const Input>(open_input(name));
  }
  if (sent->dtype != DType::u8) {
    throw Error(ErrorKind::usage, "the bytes of an input's file are uint8").about("input");
  }
  std::string extension = fs::path(name).extension().string();
  std::erase_if(extension, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; });
  if (!scratch_) scratch_ = std::make_unique<ScratchFolder>();
  const fs::path file = scratch_->path() / ("input" + extension.substr(0, 16));
  const TensorView bytes = sent->view();
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data), sent->bytes);
  auto input = std::make_shared<Input>(open_input(file.string()));
  input->label = shown_text(fs::path(name).filename().string());
  std::error_code ignored;
  fs::remove(file, ignored);
  return input;
}

ServedModels::Reply ServedModels::run(const Frame& message) {
  Subject subject = this->subject(message.header, false);
  const json& header = message.header;
  if (header.contains("mechanism") || header.contains("parameters")) {
    subject.mechanism = mechanism_in(header, subject.mechanism);
  }
  subject.input = input(message);
  TraceRequest request;
  request.queries_keys_values = true;
  request.quantities = true;
  request.large_maps = TraceRequest::LargeMaps::computed;
  if (header.contains("channel")) {
    request.channel =
        number_between(header, "channel", 0, std::numeric_limits<std::int64_t>::max());
  }
  subject.trace = std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, request, {}));
  return added(std::move(subject));
}

ServedModels::Reply ServedModels::trace(const json& header) const {
  const std::shared_ptr<const Trace> shown = subject(header, true).trace;
  TraceContents contents = contents_of(*shown);
  Reply reply;
  for (const auto& attribute : contents.attributes) {
    json& to = reply.header["attributes"][attribute.first];
    std::visit([&to](const auto& known) { to = known; }, attribute.second);
  }
  reply.arrays = std::move(contents.arrays);
  for (TraceArray& array : reply.arrays) {
    if (!array.storage) array.storage = shown;
  }
  return reply;
}

ServedModels::Reply ServedModels::tile(const json& header) const {
  const Trace& shown = *subject(header, true).trace;
  const std::int64_t layer = number_between(header, "layer", 0, std::ssize(shown.layers) - 1);
  const std::int64_t head = number_between(header, "head", 0, shown.heads(layer) - 1);
  const std::int64_t queries = shown.queries(layer), keys = shown.keys(layer);
  const std::int64_t top = number_between(header, "top", 0, queries - 1),
                     left = number_between(header, "left", 0, keys - 1),
                     rows = number_between(header, "rows", 1, queries - top),
                     columns = number_between(header, "columns", 1, keys - left),
                     height = number_between(header, "height", 1, std::min(rows, kMostTile)),
                     width = number_between(header, "width", 1, std::min(columns, kMostTile));
  const ImpliedMaps maps = maps_seen(shown, layer, IdentityView::as_is);
  const auto pixels = std::make_shared<const std::vector<float>>(
      pixels_of(maps, head, {top, left, rows, columns}, height, width));
  return {json::object(), {{"tile", DType::f32, {height, width}, pixels->data(), pixels}}};
}

ServedModels::Reply ServedModels::table(const json& header) const {
  const Subject& shown = subject(header, true);
  const auto name = member<std::string>(header, "table", "heads or spectrum");
  RankThreshold threshold;
  if (header.contains("threshold")) {
    threshold.level = member<double>(header, "threshold", "a number up to 1");
  }
  if (header.contains("share")) {
    threshold.of = value_of(rank_share_names,
                            member<std::string>(header, "share", "values or energy").substr(0, 80),
                            "share of the threshold");
  }
  if (name == "heads") {
    HeadOptions options;
    options.threshold = threshold;
    const HeadTable heads = head_table(shown, options);
    return {{{"rows", json(report_as_json(head_report(*shown.trace, heads)))}}, {}};
  }
  if (name != "spectrum") throw unknown_name("table", name.substr(0, 80), "heads, spectrum");
  SpectrumOptions options;
  options.threshold = threshold;
  SpectrumReport report;
  report.model = shown.label;
  add_run(report, *shown.trace);
  report.threshold = threshold;
  report.status = status_of(shown);
  report.maps = {spectra_of(shown, report.analysed, options)};
  const std::vector<SpectrumReport> reports = {std::move(report)};
  return {{{"rows", json(report_as_json(maps_report(reports)))}}, {}};
}

ServedModels::Reply ServedModels::close(const json& header) {
  if (subjects_.erase(member<std::int64_t>(header, "id", "the id of an answer")) == 0) {
    throw Error(ErrorKind::usage, "nothing is open under this id").about("id");
  }
  return {json::object(), {}};
}

}  // namespace attnscope
