// The colours of the critical path, pixel by pixel, and the ground of each label with the pixels below it. Prints what it
// saw as JSON.
//
//     node colors.cjs BROWSER EXECUTABLE REPORT.html
const { driven, opened, readPixels, settled, watched } = require("./driver.cjs");

const [kind, executablePath, report] = process.argv.slice(2);

// The last line of the bar of the path, in pixels from the top of the lanes: labels and brackets are above it.
const LINE = 47;

/** Before the scripts of a page: remembers on which ground a text is drawn. */
const remember = () => {
  window.drawn = [];
  let ground = {};
  const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillRect = function (...place) {
    const [x, , width] = place;
    ground = { ground: this.fillStyle, from: Math.round(x), to: Math.round(x + width) };
    return fillRect.apply(this, place);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    // Names of calls are white.
    if (this.fillStyle === "#ffffff") window.drawn.push({ text, ...ground });
    return fillText.call(this, text, ...place);
  };
};

/** The colours of the path, and the labels with those below them. */
const colors = (line) => {
  const canvas = document.querySelector(".tz-lanes canvas");
  const left = Math.round(Math.min(260, canvas.width * 0.24));
  const data = window.pixelsOf(canvas, left, line, canvas.width - left, 1);
  const path = Array.from({ length: canvas.width - left }, (_, x) => {
    const parts = [0, 1, 2].map((part) => data[4 * x + part].toString(16).padStart(2, "0"));
    return `#${parts.join("")}`;
  });
  const labels = window.drawn.map(({ text, ground, from, to }) => ({ text, ground, path: path.slice(from - left, to - left) }));
  return { path, labels };
};

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [] };
  const page = await watched(browser, seen.errors);
  await page.evaluateOnNewDocument(remember);
  await opened(page, report);
  await settled(page);
  await readPixels(page);
  Object.assign(seen, await page.evaluate(colors, LINE));
  return seen;
});
