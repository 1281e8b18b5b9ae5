// Positions of elements in an SVG that Qt wrote.
#pragma once

#include <QStringList>
#include <QTransform>
#include <QXmlStreamAttributes>

namespace attnscope {

/// The transform "matrix(a,b,c,d,e,f)"; the identity for any other attribute.
inline QTransform transform_in(const QXmlStreamAttributes& attributes) {
  QString text = attributes.value("transform").toString();
  if (!text.startsWith("matrix(")) return {};
  const QStringList parts = text.mid(7).chopped(1).split(',');
  if (parts.size() != 6) return {};
  double v[6];
  for (qsizetype i = 0; i < 6; ++i) v[i] = parts[i].toDouble();
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}

}  // namespace attnscope
