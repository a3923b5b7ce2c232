// Pictures as pixels, decoded by a browser, and as small files: colors rounded, in a palette.
const fs = require("node:fs");
const zlib = require("node:zlib");

/** The bytes of a picture's pixels: red, green, blue and opacity of each, row by row. */
exports.pixelsOf = async (page, file) => {
  const picture = await page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const { width, height, data } = context.getImageData(0, 0, image.width, image.height);
    const reader = new FileReader();
    await new Promise((done) => {
      reader.onload = done;
      reader.readAsDataURL(new Blob([data]));
    });
    return { width, height, base64: reader.result.split(",")[1] };
  }, fs.readFileSync(file).toString("base64"));
  return { width: picture.width, height: picture.height, data: Buffer.from(picture.base64, "base64") };
};

/** The share of the pixels of which a part of the color differs by more than `most`, of 255. */
exports.differing = (first, second, most) => {
  if (first.width !== second.width || first.height !== second.height) return 1;
  let count = 0;
  for (let at = 0; at < first.data.length; at += 4) {
    if ([at, at + 1, at + 2].some((part) => Math.abs(first.data[part] - second.data[part]) > most)) count++;
  }
  return count / (first.width * first.height);
};

/** A color of 4 bits per part, so that each part is at most 8 from what it was. */
const rounded = (data, at) => {
  const [red, green, blue] = [0, 1, 2].map((part) => Math.round(data[at + part] / 17));
  return (red << 8) | (green << 4) | blue;
};

const distance = (a, b) => [0, 4, 8].reduce((sum, bit) => sum + (((a >> bit) & 15) - ((b >> bit) & 15)) ** 2, 0);

/** The 256 most frequent colors, and for each of the others the place of the nearest one. */
function palette(colors) {
  const counts = new Map();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const ordered = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b);
  const kept = ordered.slice(0, 256);
  const nearest = (color) => kept.reduce((best, each, place) => (distance(each, color) < distance(kept[best], color) ? place : best), 0);
  return { kept, places: new Map(ordered.map((color, place) => [color, place < 256 ? place : nearest(color)])) };
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(zlib.crc32(body), body.length + 4);
  return framed;
}

/** A PNG with a palette. Source: https://www.w3.org/TR/png-3/, color type 3 with 8 bits, rows without a filter. */
exports.encoded = ({ width, height, data }) => {
  const colors = Uint16Array.from({ length: width * height }, (_, pixel) => rounded(data, pixel * 4));
  const { kept, places } = palette(colors);
  const rows = Buffer.alloc((width + 1) * height);
  for (const [pixel, color] of colors.entries()) rows[pixel + Math.floor(pixel / width) + 1] = places.get(color);
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(kept.flatMap((color) => [8, 4, 0].map((bit) => ((color >> bit) & 15) * 17)))),
    chunk("IDAT", zlib.deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};
