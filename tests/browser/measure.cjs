// Measures a report in a browser. Prints the figures as JSON; times are milliseconds, sizes bytes.
//
//     node measure.cjs BROWSER EXECUTABLE REPORT.html SEARCH
const fs = require("node:fs");
const path = require("node:path");
const { deprive, driven, opened, settled, underPolicy, watched } = require("./driver.cjs");

const [kind, executablePath, report, searched] = process.argv.slice(2);
/** A window of 1280 x 720 at 200 %, and a phone. */
const NARROW = { "200 %": { width: 640, height: 360, deviceScaleFactor: 2 }, "360 px": { width: 360, height: 720 } };
const MOVES = ["w", "w", "d", "d", "a", "w", "d", "a", "s", "ArrowDown", "ArrowUp", "s", "d", "a", "s", "w"];

/** A page with a line of text and a canvas: what this machine needs for the least that a timeline does. */
const TRIVIAL = `<!DOCTYPE html><title>floor</title><p>text</p><canvas width="1536" height="560"></canvas>`;

/** First paint of a trivial page, and its frames: all pixels of a canvas are set. */
async function floor(browser) {
  const file = path.join(path.dirname(report), "floor.html");
  fs.writeFileSync(file, TRIVIAL);
  const page = await watched(browser, [], { width: 1600, height: 900 });
  await page.goto(`file://${file}`);
  await settled(page);
  const seen = await page.evaluate(async () => {
    const context = document.querySelector("canvas").getContext("2d");
    const times = [];
    for (let round = 0; round < 96; round++) {
      await new Promise(requestAnimationFrame);
      const start = performance.now();
      const image = context.createImageData(1536, 560);
      new Uint32Array(image.data.buffer).fill(0xff000000 + round);
      context.putImageData(image, 0, 0);
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    return { paint, p50: times[48], p95: times[91], max: times[95] };
  });
  await page.close();
  return seen;
}

/** Milliseconds of the frames while panning, zooming and scrolling: input, layout of rows, and raster. */
async function frames(page) {
  await page.focus(".tz-lanes");
  await settled(page);
  await page.evaluate(() => performance.clearMeasures("tz-frame"));
  for (let round = 0; round < 6; round++) {
    for (const key of MOVES) {
      await page.keyboard.press(key);
      await settled(page);
    }
  }
  return page.evaluate(() => {
    const all = performance.getEntriesByName("tz-frame").map((entry) => entry.duration).sort((a, b) => a - b);
    return { frames: all.length, p50: all[all.length >> 1], p95: all[Math.floor(all.length * 0.95)], max: all.at(-1) };
  });
}

/** From the input until the page has the answer: the search with its hits, and the sums of a brush. */
const answers = (page, text) =>
  page.evaluate(async (text) => {
    const settled = () => new Promise((done) => setTimeout(done));
    const input = document.querySelector(".tz-bar input[type=search]");
    const lanes = document.querySelector(".tz-lanes");
    const took = async (act) => {
      const times = [];
      for (let round = 0; round < 5; round++) {
        const start = performance.now();
        act(round);
        await settled();
        times.push(performance.now() - start);
        await new Promise(requestAnimationFrame);
      }
      return Math.max(...times);
    };
    const search = await took((round) => {
      input.value = text.slice(0, text.length - (round % 2));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    const hits = document.querySelector("[id$=-hits]").textContent;
    lanes.dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true }));
    await settled();
    const brush = await took(() => lanes.dispatchEvent(new KeyboardEvent("keydown", { key: "b", bubbles: true })));
    return { search, hits, brush };
  }, text);

/** What of a narrow page cannot be used: it is wider than the window, or controls or lanes are out of reach. */
const unusable = (page) =>
  page.evaluate(() => {
    const faults = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the window");
    for (const each of document.querySelectorAll(".tz-bar input, .tz-bar button, .tz-bar select")) {
      const box = each.getBoundingClientRect();
      if (box.left < 0 || box.right > innerWidth || box.width < 16 || box.height < 16) faults.push(each.textContent || each.tagName);
    }
    const lanes = document.querySelector(".tz-lanes")?.getBoundingClientRect();
    if (lanes && (lanes.width < 0.8 * innerWidth || lanes.height < 90)) faults.push("lanes");
    return faults;
  });

driven(kind, executablePath, async (browser) => {
  const seen = { bytes: fs.statSync(report).size, errors: [], floor: await floor(browser) };
  const page = await watched(browser, seen.errors, { width: 1600, height: 900 });
  await page.evaluateOnNewDocument(() => {
    globalThis.violations = 0;
    addEventListener("securitypolicyviolation", () => globalThis.violations++);
  });
  seen.form = await opened(page, report);
  await settled(page);
  seen.times = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    ready: performance.getEntriesByName("tz-ready")[0]?.startTime,
  }));
  if (seen.form === "ready") {
    const before = kind === "chrome" ? await page.metrics() : null;
    seen.moves = await frames(page);
    if (before) {
      // All that the page does for a move: script, layout, and drawing; the browser's own processes are not in it.
      const after = await page.metrics();
      seen.moves.task = (1000 * (after.TaskDuration - before.TaskDuration)) / MOVES.length / 6;
    }
    seen.answers = await answers(page, searched);
  }
  if (kind === "chrome") {
    seen.heap = (await page.metrics()).JSHeapUsedSize;
    const pdf = Buffer.from(await page.pdf({ format: "A4", timeout: 120000 })).toString("latin1");
    seen.sheets = pdf.match(/\/Type\s*\/Page\b/g).length;
  }
  seen.violations = await page.evaluate(() => globalThis.violations);
  await page.close();
  seen.narrow = {};
  for (const [name, viewport] of Object.entries(NARROW)) {
    const narrow = await watched(browser, seen.errors, viewport);
    await opened(narrow, report);
    seen.narrow[name] = await unusable(narrow);
    await narrow.close();
  }
  const odd = { errors: [] };
  const deprived = await watched(browser, odd.errors);
  await deprive(deprived);
  odd.form = await opened(deprived, report);
  seen.odd = odd;
  seen.jenkins = (await underPolicy(browser, report, () => ({}))).violations;
  return seen;
});
