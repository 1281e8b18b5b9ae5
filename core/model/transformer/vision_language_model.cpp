#include "core/model/transformer/vision_language_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/model/parts/activation.h"
#include "core/model/preprocessing/image_resize.h"
#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

namespace {

/// The number of the tower's layer that is read. Throws Error(unsupported) if there is none.
std::int64_t layer_read(const VisionLanguageFile& file, const Transformer& tower) {
  const std::int64_t layers = tower.spec().layers;
  // Hidden state 0 is the input of the first layer.
  const std::int64_t layer =
      file.feature_layer < 0 ? layers + file.feature_layer : file.feature_layer - 1;
  if (layer >= 0 && layer < layers) return layer;
  throw Error(ErrorKind::unsupported, "the tower has no output of this layer")
      .in_file(tower.file())
      .about("vision_feature_layer")
      .expected("-" + std::to_string(layers) + " to " + std::to_string(layers) + ", but not 0")
      .found(std::to_string(file.feature_layer));
}

Linear read_linear(const VisionLanguageFile& file, const std::string& name, std::int64_t outputs,
                   std::int64_t inputs, std::set<std::string>& read) {
  const Checkpoint& connector = file.connector;
  const auto tensor = [&](const std::string& full, const Shape& shape) {
    const StoredTensor& stored = connector.at(full);
    if (stored.shape != shape) {
      throw Error(ErrorKind::damaged, "the tensor fits neither the tower nor the language model")
          .in_file(connector.path())
          .about(file.connector_prefix + full)
          .expected(to_string(shape))
          .found(to_string(stored.shape));
    }
    read.insert(full);
    return stored.view().to_float();
  };
  Tensor weight = tensor(name + ".weight", {outputs, inputs});
  std::vector<float> bias;
  if (connector.find(name + ".bias")) {
    const Tensor values = tensor(name + ".bias", {outputs});
    bias.assign(values.values().begin(), values.values().end());
  }
  return {std::move(weight), std::move(bias)};
}

/// Replaces {row} and {column} by numbers.
std::string filled_in(std::string text, std::int64_t row, std::int64_t column) {
  for (const auto& [place, number] : {std::pair("{row}", row), std::pair("{column}", column)}) {
    const std::size_t at = text.find(place);
    if (at != std::string::npos) {
      text.replace(at, std::string_view(place).size(), std::to_string(number));
    }
  }
  return text;
}

std::string repeated(const std::string& text, std::int64_t count) {
  std::string all;
  for (std::int64_t i = 0; i < count; ++i) all += text;
  return all;
}

std::int64_t count_of(const std::string& part, const std::string& text) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

/// A chat template begins with the special token that the tokenizer adds, too.
void leave_out_second_start(TokenizedText& tokens, const Vocabulary& vocabulary) {
  const std::vector<std::int64_t>& ids = tokens.ids;
  if (ids.size() < 2 || ids[0] != ids[1] || !vocabulary.is_special(ids[0])) return;
  tokens.ids.erase(tokens.ids.begin());
  tokens.texts.erase(tokens.texts.begin());
  tokens.types.erase(tokens.types.begin());
  std::erase(tokens.special, 0);
  for (std::int64_t& place : tokens.special) --place;
}

/// Upstream finds the position of a patch by comparing fractions in float32, which moves some
/// positions for some sides (Idefics3VisionEmbeddings). Throws Error(unsupported) for those.
void check_positions(std::int64_t side, const std::filesystem::path& file) {
  const float step = 1.0F / static_cast<float>(side);
  const double edge = 1.0 / static_cast<double>(side);
  for (std::int64_t patch = 0; patch < side; ++patch) {
    const auto place = static_cast<float>(static_cast<double>(patch) * static_cast<double>(step));
    std::int64_t bucket = 0;
    while (bucket + 1 < side &&
           static_cast<float>(edge + static_cast<double>(bucket) * edge) <= place) {
      ++bucket;
    }
    if (bucket == patch) continue;
    throw Error(ErrorKind::unsupported,
                "for this number of patches upstream's positions depend on rounding")
        .in_file(file)
        .about("image_size")
        .expected("a side such as 26, 27 or 32 patches")
        .found(std::to_string(side));
  }
}

void check_merge(const VisionLanguageFile& file, const InputSpec& tower) {
  const std::int64_t side = file.connection.merge;
  if (side >= 1 && tower.grid_rows() % side == 0 && tower.grid_columns() % side == 0) return;
  throw Error(ErrorKind::unsupported, "the tower's patches do not form whole squares")
      .in_file(file.config)
      .about("scale_factor")
      .expected("a divisor of " + std::to_string(tower.grid_rows()) + " and " +
                std::to_string(tower.grid_columns()))
      .found(std::to_string(side));
}

}  // namespace

Tensor ImageConnector::operator()(ConstMatrixMap patches, std::int64_t rows,
                                  std::int64_t columns) const {
  const std::int64_t width = patches.cols(), across = columns / merge;
  Tensor squares = Tensor::unfilled({rows / merge * across, merge * merge * width});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t square = row / merge * across + column / merge;
      const std::int64_t place = row % merge * merge + column % merge;
      squares.matrix().row(square).segment(place * width, width) =
          patches.row(row * columns + column);
    }
  }
  Tensor hidden = first(seen(squares));
  if (!second) return hidden;
  apply_activation(activation, hidden.values());
  return (*second)(seen(hidden));
}

ImageConnector read_image_connector(const VisionLanguageFile& file, const ModelSpec& tower,
                                    std::int64_t language_width) {
  check_merge(file, tower.input);
  std::set<std::string> read;
  const ConnectorSpec& spec = file.connection;
  const std::int64_t inputs = spec.merge * spec.merge * tower.width;
  ImageConnector connector{
      .first = read_linear(file, spec.layers.front(), language_width, inputs, read),
      .activation = spec.activation,
      .merge = spec.merge};
  if (spec.layers.size() > 1) {
    connector.second = read_linear(file, spec.layers[1], language_width, language_width, read);
  }
  for (const StoredTensor& tensor : file.connector.tensors()) {
    if (read.contains(tensor.name)) continue;
    throw Error(ErrorKind::unsupported, "the connector has a tensor that is not supported")
        .in_file(file.connector.path())
        .about(file.connector_prefix + tensor.name)
        .expected(spec.layers.front() + (spec.layers.size() > 1 ? " and " + spec.layers[1] : ""))
        .remedy("--option ignore=" + file.connector_prefix + tensor.name +
                " if it does not change the computation");
  }
  return connector;
}

VisionLanguageModel::VisionLanguageModel(std::shared_ptr<const Transformer> tower,
                                         std::shared_ptr<const Transformer> language,
                                         ImageConnector connector, const VisionLanguageFile& file)
    : tower_(std::move(tower)),
      language_(std::move(language)),
      connector_(std::move(connector)),
      architecture_(file.name + ": " + tower_->architecture() + ", " + language_->architecture()),
      assumptions_(language_->assumptions()),
      feature_layer_(layer_read(file, *tower_)),
      final_norm_(file.final_norm),
      keeps_prefix_(file.keeps_prefix),
      image_token_(file.image_token),
      marks_(file.marks),
      prompt_(file.prompt) {
  const InputSpec& seen = tower_->spec().input;
  if (marks_) {
    check_positions(seen.grid_rows(), tower_->file());
    check_positions(seen.grid_columns(), tower_->file());
  }
  for (Assumption one : tower_->assumptions()) {
    one.option = kTowerOption + one.option;
    assumptions_.push_back(std::move(one));
  }
  for (const auto& [pattern, count] : file.excluded) {
    assumptions_.push_back(
        {kIgnoreOption, pattern, std::to_string(count) + " tensors left out, as set by the user"});
  }
  if (image_token_ < 0 || image_token_ >= spec().input.vocabulary) {
    throw Error(ErrorKind::damaged, "the token for the picture is outside the vocabulary")
        .in_file(language_->file())
        .about("image_token_index")
        .expected("0 to " + std::to_string(spec().input.vocabulary - 1))
        .found(std::to_string(image_token_));
  }
  mark_ = language_->vocabulary()->text_of(image_token_);
}

std::string VisionLanguageModel::prompt_for(const std::string& text) const {
  if (text.find(mark_) != std::string::npos) return text;
  const Vocabulary& vocabulary = *language_->vocabulary();
  if (!vocabulary.says_texts()) (void)vocabulary.encode(text);  // throws the reason
  if (prompt_.empty() && vocabulary.has_chat()) {
    std::string whole = vocabulary.chat_text(text, true);
    if (whole.find(mark_) != std::string::npos) return whole;
  }
  constexpr std::string_view place = "{text}";
  const std::size_t at = prompt_.find(place);
  const bool fits = at != std::string::npos && prompt_.find(mark_) != std::string::npos;
  if (fits) return std::string(prompt_).replace(at, place.size(), text);
  throw Error(ErrorKind::usage, "the prompt around a question is not known for this model")
      .in_file(file())
      .expected("a whole text with " + visible_text(mark_) + " in the picture's place")
      .remedy("write it as its model card does: \"USER: " + visible_text(mark_) +
              " What is this? ASSISTANT:\"");
}

std::int64_t VisionLanguageModel::tile_rows() const {
  return tower_->spec().input.grid_rows() / connector_.merge;
}

std::int64_t VisionLanguageModel::tile_columns() const {
  return tower_->spec().input.grid_columns() / connector_.merge;
}

TileCounts VisionLanguageModel::tiles_of(const Image& picture) const {
  return count_tiles(picture.width, picture.height, tower_->spec().input);
}

std::string VisionLanguageModel::picture_text(const TileCounts& tiles) const {
  std::string tokens = repeated(mark_, tile_rows() * tile_columns());
  if (!marks_) return tokens;
  std::string text;
  for (std::int64_t row = 0; row < tiles.down; ++row) {
    for (std::int64_t column = 0; column < tiles.across; ++column) {
      text += marks_->around + filled_in(marks_->tile, row + 1, column + 1) + tokens;
    }
    text += '\n';
  }
  if (!text.empty()) text += '\n';
  return text + marks_->around + marks_->whole + tokens + marks_->around;
}

void VisionLanguageModel::put_picture_into(Text& text) const {
  const TileCounts tiles = tiles_of(*text.picture);
  const std::int64_t whole = (tiles.down * tiles.across + 1) * tile_rows() * tile_columns();
  if (!text.ids.empty()) {
    const auto place = std::ranges::find(text.ids, image_token_);
    const bool once = std::ranges::count(text.ids, image_token_) == 1;
    if (!once || marks_ || whole == 1) return;
    text.ids.insert(place, static_cast<std::size_t>(whole - 1), image_token_);
    return;
  }
  text.characters = prompt_for(text.characters);
  const std::int64_t marks = count_of(mark_, text.characters);
  if (marks == whole) return;
  if (marks != 1) {
    throw Error(ErrorKind::usage, "the text must have one place for the picture")
        .expected("one " + visible_text(mark_))
        .found(std::to_string(marks));
  }
  text.characters.replace(text.characters.find(mark_), mark_.size(), picture_text(tiles));
}

TokenCells VisionLanguageModel::cells_in(const std::vector<std::int64_t>& ids,
                                         const TileCounts& tiles) const {
  const std::int64_t size = tile_rows() * tile_columns(), count = tiles.down * tiles.across;
  std::vector<std::int64_t> firsts;  // first token of each tile, and of the whole picture
  std::int64_t found = 0, in_tile = 0;
  for (std::int64_t token = 0; token < std::ssize(ids); ++token) {
    if (ids[static_cast<std::size_t>(token)] != image_token_) continue;
    if (in_tile == 0) firsts.push_back(token);
    if (token != firsts.back() + in_tile) {
      throw Error(ErrorKind::usage, "the tokens of a picture do not follow each other")
          .expected(std::to_string(size) + " of " + visible_text(mark_))
          .found(std::to_string(in_tile));
    }
    ++found;
    in_tile = in_tile + 1 == size ? 0 : in_tile + 1;
  }
  if (found != (count + 1) * size) {
    throw Error(ErrorKind::usage, "the text does not have the tokens of its picture")
        .expected(std::to_string((count + 1) * size) + " of " + visible_text(mark_))
        .found(std::to_string(found));
  }
  TokenCells cells{.first = firsts.front(), .rows = tile_rows(), .columns = tile_columns()};
  if (count == 0) return cells;
  cells.rows *= tiles.down;
  cells.columns *= tiles.across;
  cells.overview = firsts.back();
  firsts.pop_back();
  cells.tiles = std::move(firsts);
  cells.tiles_across = tiles.across;
  return cells;
}

TokenizedText VisionLanguageModel::tokens_of(const Input& input) const {
  const Vocabulary& vocabulary = *language_->vocabulary();
  if (std::holds_alternative<Image>(input.content)) {
    throw Error(ErrorKind::usage, "the model reads a picture together with a text")
        .about(input.label)
        .expected("ask:photo.png ||| What is on the table?")
        .remedy("add the text: --prompt \"What is on the table?\"");
  }
  const Text* const given = std::get_if<Text>(&input.content);
  if (!given || !given->picture) return tokenize_input(input, spec(), vocabulary);
  if (keeps_prefix_ && tower_->spec().input.prefix_tokens() > 0) {
    throw Error(ErrorKind::unsupported, "a class token among the picture's tokens is not supported")
        .in_file(tower_->file())
        .about("vision_feature_select_strategy");
  }
  try {
    Text text = *given;
    put_picture_into(text);
    TokenizedText tokens = tokenize(text, spec(), vocabulary, true);
    if (given->ids.empty()) leave_out_second_start(tokens, vocabulary);
    const TokenCells cells = cells_in(tokens.ids, tiles_of(*text.picture));
    std::erase_if(tokens.special, [&](std::int64_t token) { return cells.contains(token); });
    const std::int64_t context = spec().input.context, found = std::ssize(tokens.ids);
    if (context == 0 || found <= context) return tokens;
    throw Error(ErrorKind::usage, "the text with the picture is longer than the model's context")
        .expected("at most " + std::to_string(context) + " tokens")
        .found(std::to_string(found) + ", " + std::to_string(cells.tokens().size()) +
               " of them the picture's");
  } catch (Error& error) {
    if (error.subject().empty()) error.about(input.label);
    throw;
  }
}

Tensor VisionLanguageModel::rows_of(Tensor pixels, const std::string& label,
                                    const Progress& progress) const {
  Input input;
  input.content = std::move(pixels);
  input.label = label;
  TraceRequest request;
  request.implied_maps = false;
  request.tokens = true;
  request.layers = {feature_layer_};
  const Trace trace = tower_->run(input, tower_->spec().mechanism, request, progress.silent());
  Tensor all = trace.layers[static_cast<std::size_t>(feature_layer_)].tokens;
  const std::optional<LayerNorm>& norm = tower_->weights().readout.final_norm;
  if (final_norm_ && norm) norm->apply(all.matrix());
  const std::int64_t prefix = trace.layout.prefix, width = all.extent(1);
  return connector_({std::as_const(all).data() + prefix * width, all.extent(0) - prefix, width},
                    trace.layout.rows, trace.layout.columns);
}

std::optional<PictureTokens> VisionLanguageModel::look_at(const Input& input,
                                                          const TokenizedText& text,
                                                          const Progress& progress) const {
  const Text* const asked = std::get_if<Text>(&input.content);
  if (!asked || !asked->picture) return std::nullopt;
  const InputSpec& seen = tower_->spec().input;
  PictureTokens result;
  std::vector<Tensor> pixels;  // normalised
  if (seen.tiles) {
    PictureTiles cut = cut_into_tiles(with_channels(*asked->picture, seen.channels), seen);
    cut.tiles.push_back(std::move(cut.whole));
    for (const Image& image : cut.tiles) {
      pixels.push_back(normalised_pixels(image, tower_->spec()));
    }
    result.image = std::move(cut.joined);
  } else {
    PreparedInput prepared = prepare_input(input, tower_->spec());
    pixels.push_back(std::move(prepared.values));
    result.image = std::move(*prepared.image);
  }
  result.cells = cells_in(text.ids, tiles_of(*asked->picture));
  const auto count = static_cast<double>(pixels.size());
  std::vector<float> rows;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    progress.step(static_cast<double>(i) / count, "looking at the picture");
    const Tensor part = rows_of(std::move(pixels[i]), input.label, progress);
    rows.insert(rows.end(), part.values().begin(), part.values().end());
  }
  const auto width = language_->spec().width;
  result.rows = Tensor({std::ssize(rows) / width, width}, rows);
  return result;
}

Trace VisionLanguageModel::run(const Input& input, const MechanismChoice& mechanism,
                               const TraceRequest& request, const Progress& progress) const {
  progress.step(0, "looking at the picture");
  TokenizedText text = tokens_of(input);
  const std::optional<PictureTokens> picture = look_at(input, text, progress);
  return language_->run_tokens(input, std::move(text), picture ? &*picture : nullptr, mechanism,
                               request, progress);
}

}  // namespace attnscope
