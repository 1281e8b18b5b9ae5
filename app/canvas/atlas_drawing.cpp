// The maps of an atlas and the numbers in their cells, drawn with OpenGL.
#include <QOpenGLFunctions_3_3_Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "app/canvas/atlas_canvas.h"
#include "app/canvas/cell_numbers.h"
#include "app/canvas/map_painter.h"
#include "app/canvas/map_textures.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr double load_budget_ms = 5;
constexpr std::int64_t texture_bytes = std::int64_t{256} << 20;

QRectF device(const QRectF& logical, double ratio) {
  return {logical.topLeft() * ratio, logical.size() * ratio};
}

}  // namespace

/// The visible maps and tiles of one set of maps.
struct AtlasCanvas::Layer {
  struct Seen {
    QRectF map;
    MapExtent extent;
    std::vector<TileKey> tiles;
    std::int64_t layer = 0, column = 0;
  };
  std::vector<Seen> seen;
  std::vector<TileKey> tiles;  ///< tiles of all visible maps, coarse ones first
};

AtlasCanvas::Extents AtlasCanvas::extents_of(const ShownMaps& maps) {
  Extents extents{maps.grid().layers, maps.grid().columns, {}};
  for (std::int64_t layer = 0; layer < extents.layers; ++layer) {
    for (std::int64_t column = 0; column < extents.columns; ++column) {
      extents.maps.push_back(maps.extent(layer, column));
    }
  }
  return extents;
}

/// The maps of the last complete run that the run in progress has not reached yet.
AtlasCanvas::Extents AtlasCanvas::not_reached(const AtlasScene& scene) const {
  const OpenSubject* const open = session_.find(subject_);
  const bool in_progress = open != nullptr && open->layers_so_far && open->in_progress();
  const AtlasGrid& grid = scene.maps->grid();
  const bool same_grid = whole_run_.layers == grid.layers && whole_run_.columns == grid.columns;
  if (!in_progress || scene.difference || !same_grid) return {};
  Extents rest = whole_run_;
  for (std::int64_t layer = 0; layer < rest.layers; ++layer) {
    for (std::int64_t column = 0; column < rest.columns; ++column) {
      if (scene.maps->extent(layer, 0).queries == 0) continue;
      rest.maps[static_cast<std::size_t>(layer * rest.columns + column)] = {};
    }
  }
  return rest;
}

AtlasCanvas::Layer AtlasCanvas::layer_of(const AtlasScene& scene, const Extents& extents) const {
  Layer layer_in_sight;
  std::vector<TileKey> fine;
  const AtlasGrid grid{extents.layers, extents.columns, scene.arrangement, scene.order};
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const MapExtent extent =
          extents.maps[static_cast<std::size_t>(layer * grid.columns + column)];
      if (extent.queries == 0 || !scene.draws(layer, column)) continue;
      const QRectF map = scene.zoom.to_screen(scene.frame.viewport, grid.map_square(layer, column));
      const QRectF inside = map.intersected(scene.sight());
      if (inside.isEmpty()) continue;
      const QRectF visible((inside.topLeft() - map.topLeft()) / map.width(),
                           inside.size() / map.width());
      Layer::Seen one{map, extent,
                      tiles_for(layer, column, extent, visible, map.width() * devicePixelRatioF()),
                      layer, column};
      if (one.tiles.empty()) continue;
      layer_in_sight.tiles.push_back(one.tiles.front());
      fine.insert(fine.end(), one.tiles.begin() + 1, one.tiles.end());
      layer_in_sight.seen.push_back(std::move(one));
    }
  }
  layer_in_sight.tiles.insert(layer_in_sight.tiles.end(), fine.begin(), fine.end());
  return layer_in_sight;
}

void AtlasCanvas::draw_layer(const AtlasScene& scene, const Layer& layer, MapTextures& textures,
                             const MapScales& scales, const QRectF& clip, double opacity) {
  const double ratio = devicePixelRatioF();
  painter_->begin(QSizeF(QSizeF(size()) * ratio).toSize(), device(clip, ratio), ratio,
                  scales.shared, {scene.colours->raised, scene.colours->muted}, opacity);
  for (const Layer::Seen& one : layer.seen) {
    if (!scales.own.empty()) painter_->set_scale(scales.of(one.layer, one.column));
    for (const TileKey& tile : one.tiles) {
      const TileCells cells = cells_of(tile, one.extent);
      const QRectF first = cell_square(one.map, one.extent, cells.row0, cells.key0);
      const QRectF last = cell_square(one.map, one.extent, cells.row1, cells.key1);
      painter_->draw(textures.find(tile), device(QRectF(first.topLeft(), last.topLeft()), ratio),
                     tile.level);
    }
  }
  painter_->end();
}

void AtlasCanvas::draw_maps(AtlasScene& scene) {
  const QRectF sight = scene.sight();
  const TextureSet set = scene.difference ? differences : weights;
  const Layer own = layer_of(scene, extents_of(*scene.maps));
  textures_[set]->set_maps(scene.maps);
  const bool whole = textures_[set]->load(own.tiles, load_budget_ms);
  const bool range_known = link_.knows_values_of(subject_);
  all_loaded_ = whole && range_known;
  // The last picture is drawn until the next one can be: nothing goes blank while maps or their
  // range are computed, and weights in the colours of differences, even for a frame, would be
  // misleading. In the same set, tiles replace the former ones as they arrive.
  if (all_loaded_ || (set == drawn_set_ && range_known)) {
    drawn_set_ = set;
    drawn_maps_ = scene.maps;
    drawn_scales_ = scene.scales;
  }
  if (drawn_maps_ == scene.maps) {
    draw_layer(scene, own, *textures_[set], drawn_scales_, sight, 1);
  } else if (drawn_maps_) {
    draw_layer(scene, layer_of(scene, extents_of(*drawn_maps_)), *textures_[drawn_set_],
               drawn_scales_, sight, 1);
  }
  if (drawn_set_ == weights) {
    constexpr double kFaint = 0.35;  // opacity of maps of the run before
    const Layer rest = layer_of(scene, not_reached(scene));
    if (!rest.seen.empty()) {
      draw_layer(scene, rest, *textures_[weights], drawn_scales_, sight, kFaint);
    }
  }
  const OpenSubject* const open = session_.find(subject_);
  if (all_loaded_ && set == weights && open != nullptr && !open->layers_so_far) {
    whole_run_ = extents_of(*scene.maps);
  }
  // A number belongs to a map that is seen.
  for (const Layer::Seen& one : own.seen) {
    const auto at = static_cast<std::size_t>(one.layer * scene.maps->grid().columns + one.column);
    if (at < scene.numbers.size() && textures_[set]->find(one.tiles.front()).name == 0) {
      scene.numbers[at].reset();
    }
  }
  if (drawn_maps_ == scene.maps) draw_numbers(scene, *scene.maps, sight);

  // The reference's maps are loaded before they are requested, so that blinking is instant.
  if (scene.over) {
    const Layer above = layer_of(scene, extents_of(*scene.over));
    textures_[over]->set_maps(scene.over);
    const bool over_whole = textures_[over]->load(above.tiles, load_budget_ms);
    all_loaded_ = all_loaded_ && over_whole;
    if (scene.over_opacity <= 0) over_drawn_ = false;
    if (scene.over_opacity > 0 && (over_whole || over_drawn_)) {
      over_drawn_ = true;
      QRectF clip = sight;
      if (scene.wipe) clip.setRight(*scene.wipe);
      if (clip.width() > 0) {
        draw_layer(scene, above, *textures_[over], {link_.scale(subject_), {}, 0}, clip,
                   scene.over_opacity);
        if (scene.over_opacity >= 1) draw_numbers(scene, *scene.over, clip);
      }
    }
  }
  for (std::size_t i = 0; i < texture_sets; ++i) {
    const bool unused = i != drawn_set_ && !(i == over && scene.over);
    textures_[i]->trim(unused && all_loaded_ ? 0 : texture_bytes);
  }
}

void AtlasCanvas::draw_numbers(const AtlasScene& scene, const ShownMaps& maps, const QRectF& clip) {
  const double ratio = devicePixelRatioF();
  const AtlasGrid grid{maps.grid().layers, maps.grid().columns, scene.arrangement, scene.order};
  const QRectF viewport = scene.frame.viewport;
  bool any = false;
  std::vector<float> values;
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const QRectF map = scene.zoom.to_screen(viewport, grid.map_square(layer, column));
      const MapExtent extent = maps.extent(layer, column);
      if (!map.intersects(clip) || extent.keys == 0 || !scene.draws(layer, column)) continue;
      const QRectF cell = cell_square(map, extent, 0, 0);
      if (cell.width() < smallest_numbered_cell || cell.height() < smallest_numbered_cell / 2) {
        continue;
      }
      if (!any) {
        const double pixels = std::clamp(cell.width() / 5.2, 8.0, 13.0);
        numbers_->set_font(font(), static_cast<int>(std::lround(pixels * ratio)));
        any = true;
      }
      const ColourScale& scale = scene.scales.of(layer, column);
      const ScaleColours heat(scale);
      const CellRange keys =
          visible_cells(map.left(), map.right(), extent.keys, clip.left(), clip.right());
      const CellRange queries =
          visible_cells(map.top(), map.bottom(), extent.queries, clip.top(), clip.bottom());
      values.resize(static_cast<std::size_t>(keys.end - keys.begin));
      for (std::int64_t query = queries.begin; query < queries.end; ++query) {
        maps.row(layer, column, query, keys.begin, values);
        for (std::int64_t key = keys.begin; key < keys.end; ++key) {
          const float value = values[static_cast<std::size_t>(key - keys.begin)];
          const auto fraction = fraction_of(scale, static_cast<double>(value));
          bool bright = scene.colours->theme == Theme::dark;
          if (fraction && std::isfinite(value)) {
            const Colour ground = heat(*fraction);
            bright = 0.30 * ground.red + 0.59 * ground.green + 0.11 * ground.blue < 125;
          }
          numbers_->add(cell_number(value, cell.width()),
                        cell_square(map, extent, query, key).center() * ratio, bright);
        }
      }
    }
  }
  if (any) {
    numbers_->draw(QSizeF(QSizeF(size()) * ratio).toSize(), device(clip, ratio));
  }
}

}  // namespace attnscope
