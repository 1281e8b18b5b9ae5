#include "core/model/transformer/vision_language_model.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
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

/// Replaces each `part` of `text`; returns their number.
std::int64_t replace_each(std::string_view part, const std::string& by, std::string& text) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + by.size())) {
    text.replace(at, part.size(), by);
    ++count;
  }
  return count;
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

/// Throws Error(unsupported) for a layer that the tower does not have, or more of them than the
/// language model has.
void check_deeper(const ImageConnectors& connectors, const Transformer& tower,
                  const Transformer& language) {
  const std::int64_t layers = tower.spec().layers;
  for (const auto& [layer, connector] : connectors.deeper) {
    if (layer < layers && std::ssize(connectors.deeper) <= language.spec().layers) continue;
    throw Error(ErrorKind::unsupported, "the tower has no such layer")
        .in_file(tower.file())
        .about("deepstack_visual_indexes")
        .expected("layers 0 to " + std::to_string(layers - 1) + ", at most " +
                  std::to_string(language.spec().layers) + " of them")
        .found(std::to_string(layer));
  }
}

/// Throws Error(unsupported) for sizes that are not whole tiles.
void check_sizes(const std::vector<ImageSize>& sizes, const InputSpec& tower,
                 const std::filesystem::path& config) {
  for (const ImageSize& size : sizes) {
    if (size.width % tower.image_width == 0 && size.height % tower.image_height == 0) continue;
    throw Error(ErrorKind::unsupported, "a picture's size is not that of whole tiles")
        .in_file(config)
        .about("image_grid_pinpoints")
        .expected("multiples of " + std::to_string(tower.image_height) + " and " +
                  std::to_string(tower.image_width))
        .found(std::to_string(size.height) + ", " + std::to_string(size.width));
  }
}

}  // namespace

std::vector<Assumption> excluded_tensors(const VisionLanguageFile& file) {
  std::vector<Assumption> list;
  for (const auto& [pattern, count] : file.excluded) {
    list.push_back(
        {kIgnoreOption, pattern, std::to_string(count) + " tensors left out, as set by the user"});
  }
  return list;
}

VisionLanguageModel::VisionLanguageModel(std::shared_ptr<const Transformer> tower,
                                         std::shared_ptr<const Transformer> language,
                                         ImageConnectors connectors, const VisionLanguageFile& file)
    : tower_(std::move(tower)),
      language_(std::move(language)),
      connectors_(std::move(connectors)),
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
  for (Assumption& one : excluded_tensors(file)) assumptions_.push_back(std::move(one));
  check_deeper(connectors_, *tower_, *language_);
  for (const auto& [height, width] : file.sizes) sizes_.push_back({width, height});
  check_sizes(sizes_, seen, file.config);
  const auto text_of = [&](std::int64_t id) {
    if (id >= 0 && id < spec().input.vocabulary) return language_->vocabulary()->text_of(id);
    throw Error(ErrorKind::damaged, "the token for the picture is outside the vocabulary")
        .in_file(language_->file())
        .about("image_token_index")
        .expected("0 to " + std::to_string(spec().input.vocabulary - 1))
        .found(std::to_string(id));
  };
  token_ = mark_ = text_of(image_token_);
  if (file.around) {
    mark_ = text_of(file.around->first);
    end_mark_ = text_of(file.around->second);
  }
  written_ = file.ends ? text_of(file.ends->first) + mark_ + text_of(file.ends->second) : mark_;
}

std::string VisionLanguageModel::prompt_for(const std::string& text, std::size_t pictures) const {
  if (text.find(mark_) != std::string::npos) return text;
  if (std::string whole = text; replace_each("<image>", written_, whole) > 0) return whole;
  const Vocabulary& vocabulary = *language_->vocabulary();
  if (!vocabulary.says_texts()) (void)vocabulary.encode(text);  // throws the reason
  if (prompt_.empty() && vocabulary.has_chat()) {
    std::string whole = vocabulary.chat_text(text, pictures);
    if (whole.find(mark_) != std::string::npos) return whole;
  }
  constexpr std::string_view place = "{text}";
  const std::size_t at = prompt_.find(place);
  const std::size_t mark = prompt_.find(mark_);
  if (at != std::string::npos && mark < at) {
    std::string whole = std::string(prompt_).replace(at, place.size(), text);
    const std::string further = prompt_.substr(mark, at - mark);
    for (std::size_t i = 1; i < pictures; ++i) whole.insert(mark, further);
    return whole;
  }
  throw Error(ErrorKind::usage, "the prompt around a question is not known for this model")
      .in_file(file())
      .expected("a whole text with " + visible_text(mark_) + " in the picture's place")
      .remedy("write it as its model card does: \"USER: " + visible_text(mark_) +
              " What is this? ASSISTANT:\"");
}

VisionLanguageModel::PictureShape VisionLanguageModel::shape_of(const Image& picture) const {
  const InputSpec& input = tower_->spec().input;
  const std::int64_t side = connectors_.main.spec.merge;
  PictureShape shape{input.grid_rows() / side, input.grid_columns() / side,
                     count_tiles(picture.width, picture.height, input)};
  if (!sizes_.empty()) {
    const ImageSize filled = best_size(picture.width, picture.height, sizes_);
    shape.tiles = {filled.height / input.image_height, filled.width / input.image_width};
    shape.packed = without_border(shape.tiles.down * shape.rows, shape.tiles.across * shape.columns,
                                  picture.width, picture.height);
    if (shape.packed->rows > 0 && shape.packed->columns > 0) return shape;
    throw Error(ErrorKind::usage, "the image is too long and narrow for the model")
        .found(std::to_string(picture.width) + " × " + std::to_string(picture.height));
  }
  if (!input.keeps_sizes()) return shape;
  const ImageSize size = size_in_steps(picture.width, picture.height, input);
  shape.rows = size.height / input.patch_height / side;
  shape.columns = size.width / input.patch_width / side;
  return shape;
}

std::string VisionLanguageModel::picture_text(const PictureShape& shape) const {
  if (shape.packed) return repeated(token_, shape.tokens());
  std::string tokens = repeated(token_, shape.rows * shape.columns);
  if (!end_mark_.empty()) return "\n\n" + mark_ + tokens + end_mark_ + "\n\n";
  if (!marks_) return tokens;
  std::string text;
  for (std::int64_t row = 0; row < shape.tiles.down; ++row) {
    for (std::int64_t column = 0; column < shape.tiles.across; ++column) {
      text += marks_->around + filled_in(marks_->tile, row + 1, column + 1) + tokens;
    }
    text += '\n';
  }
  if (!text.empty()) text += '\n';
  return text + marks_->around + marks_->whole + tokens + marks_->around;
}

std::vector<VisionLanguageModel::PictureShape> VisionLanguageModel::shapes_of(
    const Text& text) const {
  std::vector<PictureShape> shapes;
  for (const std::shared_ptr<const Image>& picture : text.pictures) {
    shapes.push_back(shape_of(*picture));
  }
  return shapes;
}

std::int64_t VisionLanguageModel::tokens_of_all(const std::vector<PictureShape>& shapes) {
  std::int64_t all = 0;
  for (const PictureShape& shape : shapes) all += shape.tokens();
  return all;
}

void VisionLanguageModel::put_pictures_into(Text& text,
                                            const std::vector<PictureShape>& shapes) const {
  const std::int64_t whole = tokens_of_all(shapes);
  if (!text.ids.empty()) {
    const bool one_each = std::ranges::count(text.ids, image_token_) == std::ssize(shapes);
    if (!one_each || marks_ || whole == std::ssize(shapes)) return;
    auto place = text.ids.begin();
    for (const PictureShape& shape : shapes) {
      place = std::find(place, text.ids.end(), image_token_);
      place = text.ids.insert(place, static_cast<std::size_t>(shape.tokens() - 1), image_token_) +
              shape.tokens();
    }
    return;
  }
  text.characters = prompt_for(text.characters, shapes.size());
  if (count_of(token_, text.characters) == whole) return;
  const std::int64_t marks = count_of(mark_, text.characters);
  if (marks != std::ssize(shapes)) {
    throw Error(ErrorKind::usage, "the text must have a place for each picture")
        .expected(std::to_string(shapes.size()) + " " + visible_text(mark_) + " for " +
                  std::to_string(shapes.size()) + (shapes.size() == 1 ? " picture" : " pictures"))
        .found(std::to_string(marks))
        .remedy("write <image> once for each picture, or nowhere: then all come before the text");
  }
  std::size_t at = 0;
  for (const PictureShape& shape : shapes) {
    at = text.characters.find(mark_, at);
    const std::string tokens = picture_text(shape);
    text.characters.replace(at, mark_.size(), tokens);
    at += tokens.size();
  }
}

std::vector<TokenCells> VisionLanguageModel::cells_in(
    const std::vector<std::int64_t>& ids, const std::vector<PictureShape>& shapes) const {
  const std::int64_t whole = tokens_of_all(shapes), found = std::ranges::count(ids, image_token_);
  if (found != whole) {
    throw Error(ErrorKind::usage, shapes.size() == 1
                                      ? "the text does not have the tokens of its picture"
                                      : "the text does not have the tokens of its pictures")
        .expected(std::to_string(whole) + " of " + visible_text(token_))
        .found(std::to_string(found));
  }
  std::vector<TokenCells> cells;
  cells.reserve(shapes.size());
  std::int64_t next = 0;
  for (const PictureShape& shape : shapes) cells.push_back(next_cells(ids, shape, next));
  return cells;
}

TokenCells VisionLanguageModel::next_cells(const std::vector<std::int64_t>& ids,
                                           const PictureShape& shape, std::int64_t& next) const {
  const TileCounts& tiles = shape.tiles;
  const std::int64_t count = tiles.down * tiles.across;
  const std::int64_t size = shape.packed ? shape.tokens() : shape.rows * shape.columns;
  std::vector<std::int64_t> firsts;  // first token of each tile, and of the whole picture
  while (std::ssize(firsts) < shape.tokens() / size) {
    firsts.push_back(std::find(ids.begin() + next, ids.end(), image_token_) - ids.begin());
    for (next = firsts.back(); next < firsts.back() + size; ++next) {
      const bool ends = next == std::ssize(ids);
      if (!ends && ids[static_cast<std::size_t>(next)] == image_token_) continue;
      throw Error(ErrorKind::usage, "the tokens of a picture do not follow each other")
          .expected(std::to_string(size) + " of " + visible_text(token_))
          .found(std::to_string(next - firsts.back()));
    }
  }
  TokenCells cells{.first = firsts.front(), .rows = shape.rows, .columns = shape.columns};
  if (count == 0) return cells;
  cells.overview_rows = shape.rows;
  cells.overview_columns = shape.columns;
  if (shape.packed) {
    cells.overview = cells.first;
    cells.rows = shape.packed->rows;
    cells.columns = shape.packed->columns;
    for (std::int64_t row = 0; row < cells.rows; ++row) {
      cells.tiles.push_back(cells.first + cells.overview_count() + row * (cells.columns + 1));
    }
    return cells;
  }
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
        .remedy("add the text: --prompt \"What is on the table?\"");
  }
  const Text* const given = std::get_if<Text>(&input.content);
  if (!given || given->pictures.empty()) return tokenize_input(input, spec(), vocabulary);
  if (keeps_prefix_ && tower_->spec().input.prefix_tokens() > 0) {
    throw Error(ErrorKind::unsupported, "a class token among the picture's tokens is not supported")
        .in_file(tower_->file())
        .about("vision_feature_select_strategy");
  }
  try {
    Text text = *given;
    const std::vector<PictureShape> shapes = shapes_of(text);
    put_pictures_into(text, shapes);
    TokenizedText tokens = tokenize(text, spec(), vocabulary, true);
    if (given->ids.empty()) leave_out_second_start(tokens, vocabulary);
    TokenLayout layout;
    layout.pictures = cells_in(tokens.ids, shapes);
    std::erase_if(tokens.special, [&](std::int64_t token) { return layout.is_of_picture(token); });
    const std::int64_t context = spec().input.context, found = std::ssize(tokens.ids);
    if (context == 0 || found <= context) return tokens;
    const bool several = shapes.size() > 1;
    throw Error(ErrorKind::usage, several ? "the text with its pictures is longer than the context"
                                          : "the text with the picture is longer than the context")
        .expected("at most " + std::to_string(context) + " tokens")
        .found(std::to_string(found) + ", " +
               std::to_string(std::ranges::count(tokens.ids, image_token_)) + " of them " +
               (several ? "the pictures'" : "the picture's"));
  } catch (Error& error) {
    if (error.subject().empty()) error.about(input.label);
    throw;
  }
}

std::vector<Tensor> VisionLanguageModel::rows_of(Tensor pixels, const std::string& label,
                                                 const Progress& progress) const {
  Input input;
  input.content = std::move(pixels);
  input.label = label;
  TraceRequest request;
  request.implied_maps = false;
  request.tokens = true;
  request.layers = {feature_layer_};
  for (const auto& [layer, connector] : connectors_.deeper) request.layers.push_back(layer);
  Trace trace = tower_->run(input, tower_->spec().mechanism, request, progress.silent());
  const auto rows_after = [&](std::int64_t layer, const ImageConnector& connector, bool normed) {
    Tensor all = trace.layers[static_cast<std::size_t>(layer)].tokens;
    const std::optional<LayerNorm>& norm = tower_->weights().readout.final_norm;
    if (normed && norm) norm->apply(all.matrix());
    const std::int64_t prefix = trace.layout.prefix, width = all.extent(1);
    return connector({std::as_const(all).data() + prefix * width, all.extent(0) - prefix, width},
                     trace.layout.rows, trace.layout.columns);
  };
  std::vector<Tensor> rows;
  rows.push_back(rows_after(feature_layer_, connectors_.main, final_norm_));
  for (const auto& [layer, connector] : connectors_.deeper) {
    rows.push_back(rows_after(layer, connector, false));
  }
  return rows;
}

std::vector<Tensor> VisionLanguageModel::pixels_of(const std::shared_ptr<const Image>& picture,
                                                   const std::string& label,
                                                   const PictureShape& shape,
                                                   Image& covered) const {
  const InputSpec& seen = tower_->spec().input;
  std::vector<Tensor> pixels;  // normalised
  if (!shape.packed && !seen.tiles) {
    Text text;
    text.pictures = {picture};
    Input input;
    input.content = std::move(text);
    input.label = label;
    PreparedInput prepared = prepare_input(input, tower_->spec());
    pixels.push_back(std::move(prepared.values));
    covered = std::move(*prepared.image);
    return pixels;
  }
  const Image given = with_channels(*picture, seen.channels);
  PictureTiles cut =
      shape.packed ? fill_with_tiles(given, seen, best_size(given.width, given.height, sizes_))
                   : cut_into_tiles(given, seen);
  cut.tiles.insert(shape.packed ? cut.tiles.begin() : cut.tiles.end(), std::move(cut.whole));
  for (const Image& image : cut.tiles) pixels.push_back(normalised_pixels(image, tower_->spec()));
  covered = std::move(cut.joined);
  if (!shape.packed) return pixels;
  const CellBlock& kept = *shape.packed;
  covered = crop(covered, kept.column * seen.patch_width, kept.row * seen.patch_height,
                 kept.columns * seen.patch_width, kept.rows * seen.patch_height);
  return pixels;
}

Tensor VisionLanguageModel::packed_rows(const std::vector<Tensor>& parts,
                                        const PictureShape& shape) const {
  const CellBlock& kept = *shape.packed;
  const std::int64_t width = language_->spec().width, size = shape.rows * shape.columns;
  const Eigen::Map<const Eigen::RowVectorXf> end(connectors_.row_end.data(), width);
  Tensor all({shape.tokens(), width});
  MatrixMap rows = all.matrix();
  rows.topRows(size) = parts.front().matrix();
  std::int64_t next = size;
  for (std::int64_t row = kept.row; row < kept.row + kept.rows; ++row) {
    for (std::int64_t column = kept.column; column < kept.column + kept.columns; ++column) {
      const std::int64_t tile = row / shape.rows * shape.tiles.across + column / shape.columns;
      const std::int64_t place = row % shape.rows * shape.columns + column % shape.columns;
      rows.row(next++) = parts[static_cast<std::size_t>(tile) + 1].matrix().row(place);
    }
    rows.row(next++) = end;
  }
  return all;
}

std::optional<PictureTokens> VisionLanguageModel::look_at(const Input& input,
                                                          const TokenizedText& text,
                                                          const Progress& progress) const {
  const Text* const asked = std::get_if<Text>(&input.content);
  if (!asked || asked->pictures.empty()) return std::nullopt;
  const std::vector<PictureShape> shapes = shapes_of(*asked);
  PictureTokens result;
  result.cells = cells_in(text.ids, shapes);
  result.images.resize(shapes.size());
  std::vector<std::vector<float>> rows(1 + connectors_.deeper.size());  // by connector
  const auto count = static_cast<double>(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const PictureShape& shape = shapes[i];
    std::vector<Tensor> pixels =
        pixels_of(asked->pictures[i], input.label, shape, result.images[i]);
    std::vector<std::vector<Tensor>> parts(rows.size());  // by connector
    for (std::size_t part = 0; part < pixels.size(); ++part) {
      const double done = static_cast<double>(part) / static_cast<double>(pixels.size());
      progress.step((static_cast<double>(i) + done) / count, "looking at the picture");
      std::vector<Tensor> of_part = rows_of(std::move(pixels[part]), input.label, progress);
      for (std::size_t of = 0; of < rows.size(); ++of) parts[of].push_back(std::move(of_part[of]));
    }
    if (shape.packed) parts.front() = {packed_rows(parts.front(), shape)};
    for (std::size_t of = 0; of < parts.size(); ++of) {
      for (const Tensor& part : parts[of]) {
        rows[of].insert(rows[of].end(), part.values().begin(), part.values().end());
      }
    }
  }
  for (std::int64_t token = 0; token < std::ssize(text.ids); ++token) {
    if (text.ids[static_cast<std::size_t>(token)] == image_token_) result.places.push_back(token);
  }
  const std::int64_t width = language_->spec().width;
  for (const std::vector<float>& values : rows) {
    result.rows.push_back(Tensor({std::ssize(values) / width, width}, values));
  }
  return result;
}

Trace VisionLanguageModel::run(const Input& input, const MechanismChoice& mechanism,
                               const TraceRequest& request, const Progress& progress) const {
  progress.step(0, "looking at the picture");
  TokenizedText text = tokens_of(input);
  const std::optional<PictureTokens> pictures = look_at(input, text, progress);
  return language_->run_tokens(input, std::move(text), pictures ? &*pictures : nullptr, mechanism,
                               request, progress);
}

}  // namespace attnscope
