#include "analysis/intervention/patching.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <tbb/parallel_for.h>

#include "analysis/intervention/answer.h"
#include "analysis/intervention/target_name.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

constexpr double kNoEffect = std::numeric_limits<double>::quiet_NaN();

constexpr EnumName<LayerRows> kReceiverNames[] = {
    {LayerRows::queries, "query"}, {LayerRows::keys, "key"}, {LayerRows::values, "value"}};

/// The tensor that holds a part; maps are not among them.
LayerRows tensor_of(PatchedPart part) {
  switch (part) {
    case PatchedPart::residual:
      return LayerRows::residual;
    case PatchedPart::attention:
      return LayerRows::attention;
    case PatchedPart::mlp:
      return LayerRows::mlp;
    default:
      return LayerRows::heads;
  }
}

std::vector<std::int64_t> cells_chosen(const std::vector<std::int64_t>& chosen,
                                       std::int64_t count) {
  std::vector<std::int64_t> all = chosen;
  if (all.empty()) {
    all.resize(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::vector<std::string> token_names(const TokenLayout& layout, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(layout.name(i));
  return names;
}

/// "3 tokens: "To" " be" ","", with at most 40 of them.
std::string listed(const std::vector<std::string>& tokens) {
  std::string words = std::to_string(tokens.size()) + " tokens:";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i == 40) return words + " …";
    words += " \"" + shown_text(tokens[i]) + "\"";
  }
  return words;
}

Error different_tokens(const std::vector<std::string>& own, const std::vector<std::string>& other) {
  return Error(ErrorKind::usage, "the two inputs must have the same number of tokens")
      .expected(listed(own))
      .found(listed(other) + " in the other input")
      .remedy("reword one of them, so that each token has its counterpart");
}

Error no_part(PatchedPart part, std::int64_t layer) {
  return Error(ErrorKind::usage,
               "the layer has no " + std::string(name_of(patched_part_names, part)) + " to patch")
      .about("layer " + std::to_string(layer));
}

/// One end of a path, by its numbers and its name.
PathReceiver receiver_of(const std::string& text, const std::string& option) {
  const auto error = [&] {
    return Error(ErrorKind::usage, "a path ends at \"end\" or at LAYER.HEAD.query, .key or .value")
        .about(option)
        .expected("9.6.query")
        .found(text);
  };
  const std::size_t first = std::min(text.find('.'), text.size());
  const std::size_t second = std::min(text.find('.', first + 1), text.size());
  const auto number = [&](const std::string& digits) {
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      throw error();
    }
    return std::int64_t{std::stol(digits)};
  };
  if (second == text.size()) throw error();
  PathReceiver receiver;
  receiver.layer = number(text.substr(0, first));
  receiver.head = number(text.substr(first + 1, second - first - 1));
  const std::string input = text.substr(second + 1);
  for (const auto& [value, name] : kReceiverNames) {
    if (name != input) continue;
    receiver.input = value;
    return receiver;
  }
  throw error();
}

std::string receiver_in_words(const PathReceiver& receiver) {
  return std::to_string(receiver.layer) + "." + std::to_string(receiver.head) + "." +
         std::string(name_of(kReceiverNames, receiver.input));
}

/// The columns of one of `heads` heads.
auto head_columns(MatrixMap rows, std::int64_t head, std::int64_t heads) {
  const Eigen::Index width = rows.cols() / heads;
  return rows.middleCols(head * width, width);
}

}  // namespace

bool is_of_heads(PatchedPart part) {
  return part == PatchedPart::head_output || part == PatchedPart::map;
}

std::vector<PathReceiver> path_receivers(const std::string& text, const std::string& option) {
  std::vector<PathReceiver> receivers;
  if (text == "end") return receivers;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    receivers.push_back(receiver_of(text.substr(from, comma - from), option));
    from = comma + 1;
  }
  return receivers;
}

std::string in_words(const PatchRequest& request) {
  const auto part = [&]() -> std::string {
    switch (request.of) {
      case PatchedPart::head_output:
        return "outputs of heads";
      case PatchedPart::map:
        return "maps of heads";
      case PatchedPart::residual:
        return "residual stream before a layer";
      case PatchedPart::attention:
        return "attention output";
      case PatchedPart::mlp:
        return "MLP output";
    }
    return {};
  };
  std::string words = part();
  if (is_of_heads(request.of) && !request.positions.empty()) {
    words += request.of == PatchedPart::map ? " for queries" : " at positions";
    for (const std::int64_t one : request.positions) words += " " + std::to_string(one);
  }
  if (!request.path) return words;
  words += ", on direct paths to ";
  if (request.path->empty()) words += "the end of the residual stream";
  for (std::size_t i = 0; i < request.path->size(); ++i) {
    words += (i > 0 ? ", " : "") + receiver_in_words((*request.path)[i]);
  }
  return words + (request.through_mlps ? " (through MLPs)" : " (MLPs as in the unchanged run)");
}

Patching::Patching(Subject subject, Input input, Input from, PatchRequest request,
                   const Progress& progress)
    : subject_(std::move(subject)),
      input_(std::move(input)),
      other_(std::move(from)),
      request_(std::move(request)) {
  check_request();
  const Trace own = run_kept(input_, false, own_, progress.part(0, 0.5));
  tokens_ = token_names(own.layout, own_.residual.front().rows());
  choose_places();
  const Trace other = run_kept(other_, true, given_, progress.part(0.5, 1));
  other_tokens_ = token_names(other.layout, given_.residual.front().rows());
  check_tokens();
  choose_answers(own, other);
  corrupted_ = difference_of(own);
  clean_ = difference_of(other);
}

void Patching::choose_answers(const Trace& own, const Trace& other) {
  const auto chosen = [&](const Trace& trace, const std::string& text, const char* option) {
    return text.empty() ? likeliest(logits_of(trace))
                        : answer_index(*subject_.model, trace, text, option);
  };
  answer_ = chosen(other, request_.answer, "--answer");
  against_ = chosen(own, request_.against, "--against");
  if (answer_ < 0 || against_ < 0) {
    throw Error(ErrorKind::usage, "the model's logits are not finite")
        .in_file(subject_.model->file());
  }
  const auto name = [&](std::int64_t index) {
    const auto at = static_cast<std::size_t>(index);
    return at < own.labels.size() ? own.labels[at] : std::to_string(index);
  };
  answer_name_ = name(answer_);
  against_name_ = name(against_);
  if (answer_ != against_) return;
  throw Error(ErrorKind::usage, request_.answer.empty() && request_.against.empty()
                                    ? "the likeliest answer is the same on both inputs"
                                    : "the two answers must differ")
      .about("--against")
      .found("\"" + shown_text(against_name_) + "\" twice")
      .remedy("name two answers");
}

std::span<const float> Patching::logits_of(const Trace& trace) const {
  if (request_.place < 0) return trace.logits.values();
  const auto width = static_cast<std::size_t>(trace.token_logits.extent(1));
  return trace.token_logits.values().subspan(static_cast<std::size_t>(request_.place) * width,
                                             width);
}

void Patching::check_request() {
  const Transformer& model = transformer_of(*subject_.model);
  const ModelSpec& spec = model.spec();
  skips_ = model.can_skip_layers();
  check_choice(request_.where, spec.layers, spec.layer.attention.heads, "--");
  if (!skips_ && (!is_of_heads(request_.of) || !request_.positions.empty() || request_.path)) {
    throw Error(ErrorKind::usage,
                "token positions and paths need a model whose layers all have the same tokens")
        .in_file(model.file())
        .expected("--of head-output or --of map, without --positions and --to");
  }
  const bool of_tokens = spec.readout.gives_token_logits();
  if (request_.place >= 0 && !of_tokens) {
    throw Error(ErrorKind::usage, "the model has no logits at each token position")
        .in_file(model.file())
        .about("--place");
  }
  if (spec.readout.kind == Readout::masked_token && request_.place < 0) {
    throw Error(ErrorKind::usage, "a masked language model is read at one token position")
        .in_file(model.file())
        .expected("--place with the position of the mask");
  }
  if (!request_.path) return;
  if (request_.of == PatchedPart::map || request_.of == PatchedPart::residual) {
    throw Error(ErrorKind::usage, "a path begins at the output of a head, an attention or an MLP")
        .about("--of")
        .expected("head-output, attention or mlp")
        .found(std::string(name_of(patched_part_names, request_.of)));
  }
  for (const PathReceiver& receiver : *request_.path) {
    check_choice({.layers = {receiver.layer}}, spec.layers, 0, "--to: ");
    const LayerSpec& layer = block_of(model, receiver.layer).spec;
    const std::int64_t heads =
        receiver.input == LayerRows::queries ? layer.attention.heads : layer.key_heads();
    check_choice({.heads = {receiver.head}}, spec.layers, heads, "--to: ");
  }
}

std::int64_t Patching::heads_of(std::int64_t layer) const {
  return block_of(transformer_of(*subject_.model), layer).spec.attention.heads;
}

void Patching::choose_places() {
  const ModelSpec& spec = subject_.model->spec();
  std::int64_t last = spec.layers - 1;
  if (request_.path && !request_.path->empty()) {
    const auto layer_of = [](const PathReceiver& one) { return one.layer; };
    last = std::ranges::max(*request_.path, {}, layer_of).layer - 1;
  }
  for (const std::int64_t layer : cells_chosen(request_.where.layers, spec.layers)) {
    if (layer <= last) layers_.push_back(layer);
  }
  if (layers_.empty()) {
    throw Error(ErrorKind::usage, "no chosen layer is before the end of the path")
        .about("--layers")
        .expected("layers 0 to " + std::to_string(last));
  }
  const auto tokens = std::ssize(tokens_);
  for (const std::int64_t position : request_.positions) {
    if (position >= 0 && position < tokens) continue;
    throw Error(ErrorKind::usage, "the input has no such token position")
        .about("--positions")
        .expected("0 to " + std::to_string(tokens - 1))
        .found(std::to_string(position));
  }
  if (request_.place >= tokens) {
    throw Error(ErrorKind::usage, "the input has no such token position")
        .about("--place")
        .expected("0 to " + std::to_string(tokens - 1))
        .found(std::to_string(request_.place));
  }
  const bool by_head = is_of_heads(request_.of);
  columns_ = by_head ? cells_chosen(request_.where.heads, spec.layer.attention.heads)
                     : cells_chosen(request_.positions, tokens);
  if (by_head) {
    for (const std::int64_t layer : layers_) {
      for (const std::int64_t head : columns_) {
        // Stages of a pyramid may have fewer heads.
        if (head < heads_of(layer)) places_.push_back({.layer = layer, .head = head});
      }
    }
    return;
  }
  for (const std::int64_t position : columns_) {
    for (const std::int64_t layer : layers_) {
      places_.push_back({.layer = layer, .position = position});
    }
  }
}

bool Patching::needs(LayerRows of, std::int64_t layer, bool is_other) const {
  if (of == LayerRows::residual && (layer == 0 || !is_other)) return true;
  if (is_other) {
    return request_.of != PatchedPart::map && of == tensor_of(request_.of) &&
           std::ranges::binary_search(layers_, layer);
  }
  if (!request_.path) return false;
  return of == LayerRows::heads || (of == LayerRows::mlp && !request_.through_mlps);
}

Trace Patching::run_kept(const Input& input, bool is_other, Kept& kept,
                         const Progress& progress) const {
  const auto layers = static_cast<std::size_t>(subject_.model->spec().layers);
  for (auto* const list : {&kept.residual, &kept.heads, &kept.attention, &kept.mlp}) {
    list->resize(layers);
  }
  kept.maps.resize(layers);
  TraceRequest request;
  request.parameters = subject_.parameters;
  request.token_logits = request_.place >= 0;
  request.implied_maps = is_other && request_.of == PatchedPart::map;
  request.layers = request.implied_maps ? layers_ : std::vector<std::int64_t>();
  request.change_rows = [&](LayerRows of, std::int64_t layer, MatrixMap rows) {
    if (!needs(of, layer, is_other)) return;
    std::vector<Matrix>& list = of == LayerRows::residual    ? kept.residual
                                : of == LayerRows::heads     ? kept.heads
                                : of == LayerRows::attention ? kept.attention
                                                             : kept.mlp;
    list[static_cast<std::size_t>(layer)] = rows;
  };
  Trace trace = subject_.model->run(input, subject_.mechanism, request, progress);
  if (trace.logits.empty()) {
    throw Error(ErrorKind::usage, "the model gives no logits to compare")
        .in_file(subject_.model->file())
        .expected("a head of classes or tokens");
  }
  for (std::size_t layer = 0; layer < layers && request.implied_maps; ++layer) {
    kept.maps[layer] = std::move(trace.layers[layer].implied_map);
  }
  return trace;
}

void Patching::check_tokens() const {
  if (tokens_.size() != other_tokens_.size()) throw different_tokens(tokens_, other_tokens_);
  for (const std::int64_t layer : layers_) {
    const auto at = static_cast<std::size_t>(layer);
    const bool found = request_.of == PatchedPart::residual    ? given_.residual[at].size() > 0
                       : request_.of == PatchedPart::attention ? given_.attention[at].size() > 0
                       : request_.of == PatchedPart::mlp       ? given_.mlp[at].size() > 0
                       : request_.of == PatchedPart::map       ? given_.maps[at].rank() == 3
                                                               : given_.heads[at].size() > 0;
    if (!found) throw no_part(request_.of, layer);
    if (request_.path && own_.heads[at].size() == 0) throw no_part(PatchedPart::head_output, layer);
  }
}

double Patching::difference_of(const Trace& trace) const {
  const std::span<const float> logits = logits_of(trace);
  const double difference = static_cast<double>(logits[static_cast<std::size_t>(answer_)]) -
                            logits[static_cast<std::size_t>(against_)];
  return std::isfinite(difference) ? difference : kNoEffect;
}

double Patching::effect(double difference) const {
  const double range = clean_ - corrupted_;
  return range != 0 ? (difference - corrupted_) / range : kNoEffect;
}

void Patching::put(const std::vector<PatchPlace>& places, LayerRows of, std::int64_t layer,
                   MatrixMap rows) const {
  if (request_.of == PatchedPart::map || of != tensor_of(request_.of)) return;
  const auto at = static_cast<std::size_t>(layer);
  const Matrix& given = of == LayerRows::residual    ? given_.residual[at]
                        : of == LayerRows::attention ? given_.attention[at]
                        : of == LayerRows::mlp       ? given_.mlp[at]
                                                     : given_.heads[at];
  for (const PatchPlace& place : places) {
    if (place.layer != layer) continue;
    if (given.rows() != rows.rows()) throw different_tokens(tokens_, other_tokens_);
    if (place.head < 0) {
      rows.row(place.position) = given.row(place.position);
      continue;
    }
    const Eigen::Index width = rows.cols() / heads_of(layer), first = place.head * width;
    if (request_.positions.empty()) rows.middleCols(first, width) = given.middleCols(first, width);
    for (const std::int64_t row : request_.positions) {
      rows.row(row).segment(first, width) = given.row(row).segment(first, width);
    }
  }
}

void Patching::put_map(const std::vector<PatchPlace>& places, std::int64_t layer, std::int64_t head,
                       MatrixMap map) const {
  const PatchPlace here{.layer = layer, .head = head};
  if (std::ranges::find(places, here) == places.end()) return;
  const Matrix given = given_.maps[static_cast<std::size_t>(layer)].head(head);
  if (given.rows() != map.rows() || given.cols() != map.cols()) {
    throw different_tokens(tokens_, other_tokens_);
  }
  if (request_.positions.empty()) map = given;
  for (const std::int64_t row : request_.positions) map.row(row) = given.row(row);
}

Trace Patching::run_changed(std::int64_t first, const Change& change, const MapChange& maps,
                            const Progress& progress) const {
  TraceRequest request;
  request.implied_maps = false;
  request.parameters = subject_.parameters;
  request.token_logits = request_.place >= 0;
  request.first_layer = skips_ ? first : 0;
  request.change_map = maps;
  request.change_rows = [&](LayerRows of, std::int64_t layer, MatrixMap rows) {
    // Places are patched over the state before the first layer, which is that of the unchanged run.
    if (skips_ && of == LayerRows::residual && layer == first) {
      rows = own_.residual[static_cast<std::size_t>(layer)];
    }
    change(of, layer, rows);
  };
  return subject_.model->run(input_, subject_.mechanism, request, progress.silent());
}

double Patching::difference(const std::vector<PatchPlace>& places, const Progress& progress) const {
  if (places.empty()) return corrupted_;
  const auto layer_of = [](const PatchPlace& one) { return one.layer; };
  const std::int64_t first = std::ranges::min(places, {}, layer_of).layer;
  if (request_.path) return path_difference(places, first, progress);
  MapChange maps;
  if (request_.of == PatchedPart::map) {
    maps = [&](std::int64_t layer, std::int64_t head, MatrixMap map) {
      put_map(places, layer, head, map);
    };
  }
  return difference_of(run_changed(
      first,
      [&](LayerRows of, std::int64_t layer, MatrixMap rows) { put(places, of, layer, rows); }, maps,
      progress));
}

double Patching::path_difference(const std::vector<PatchPlace>& places, std::int64_t first,
                                 const Progress& progress) const {
  std::vector<Matrix> received(request_.path->size());
  const auto receive = [&](LayerRows of, std::int64_t layer, const auto& exchange) {
    for (std::size_t i = 0; i < received.size(); ++i) {
      const PathReceiver& one = (*request_.path)[i];
      if (one.layer == layer && one.input == of) exchange(one, received[i]);
    }
  };
  const auto heads_in = [&](const PathReceiver& one) {
    const LayerSpec& layer = block_of(transformer_of(*subject_.model), one.layer).spec;
    return one.input == LayerRows::queries ? layer.attention.heads : layer.key_heads();
  };
  // The run in which the change takes only direct paths.
  const Trace direct = run_changed(
      first,
      [&](LayerRows of, std::int64_t layer, MatrixMap rows) {
        const auto at = static_cast<std::size_t>(layer);
        if (of == LayerRows::heads) rows = own_.heads[at];
        if (of == LayerRows::mlp && !request_.through_mlps) rows = own_.mlp[at];
        put(places, of, layer, rows);
        receive(of, layer, [&](const PathReceiver& one, Matrix& kept) {
          kept = head_columns(rows, one.head, heads_in(one));
        });
      },
      {}, progress);
  if (received.empty()) return difference_of(direct);
  const auto layer_of = [](const PathReceiver& one) { return one.layer; };
  const std::int64_t begin = std::ranges::min(*request_.path, {}, layer_of).layer;
  return difference_of(run_changed(
      begin,
      [&](LayerRows of, std::int64_t layer, MatrixMap rows) {
        receive(of, layer, [&](const PathReceiver& one, const Matrix& kept) {
          head_columns(rows, one.head, heads_in(one)) = kept;
        });
      },
      {}, progress));
}

PatchTable patch_each(std::shared_ptr<const Patching> patching, const PatchFound& found,
                      const Progress& progress) {
  const std::vector<PatchPlace>& places = patching->places();
  PatchTable table{patching, std::vector<double>(places.size(), kNoEffect)};
  std::mutex turn;
  std::size_t done = 0;
  std::atomic<std::size_t> next = 0;  // places are begun in order, so that a table fills row by row
  tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t) {
    if (progress.cancelled()) throw Cancelled{};
    const std::size_t i = next++;
    const double difference = patching->difference({places[i]}, progress);
    const std::lock_guard lock(turn);
    table.differences[i] = difference;
    ++done;
    if (found) found(i, difference);
    progress.step(static_cast<double>(done) / static_cast<double>(places.size()),
                  std::to_string(done) + " of " + std::to_string(places.size()) + " places");
  });
  return table;
}

}  // namespace attnscope
