// Measures a report in a browser. Prints the figures as JSON; times are milliseconds, sizes bytes.
//
//     node measure.cjs BROWSER EXECUTABLE REPORT.html SEARCH
const fs = require("node:fs");
const http = require("node:http");
const { driven } = require("./driver.cjs");

const [kind, executablePath, report, searched] = process.argv.slice(2);
const STRICT = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'; report-uri /violation";
/** A window of 1280 x 720 at 200 %, and a phone. */
const NARROW = { "200 %": { width: 640, height: 360, deviceScaleFactor: 2 }, "360 px": { width: 360, height: 720 } };
const MOVES = ["w", "w", "d", "d", "a", "w", "d", "a", "s", "ArrowDown", "ArrowUp", "s", "d", "a", "s", "w"];

/** A page of which errors and violations of its policy are counted. */
async function opened(browser, viewport, before) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.evaluateOnNewDocument(() => {
    globalThis.violations = 0;
    addEventListener("securitypolicyviolation", () => globalThis.violations++);
  });
  if (before) await page.evaluateOnNewDocument(before);
  await page.setViewport(viewport);
  await page.goto(`file://${report}`);
  await page.waitForFunction("!document.getElementById('tz-meta') || document.documentElement.dataset.tz", { timeout: 30000 });
  return { page, errors };
}

const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Milliseconds of the frames while panning, zooming and scrolling: input, layout of rows, and raster. */
async function frames(page) {
  await page.focus(".tz-lanes");
  await frame(page);
  await page.evaluate(() => performance.clearMeasures("tz-frame"));
  for (let round = 0; round < 6; round++) {
    for (const key of MOVES) {
      await page.keyboard.press(key);
      await frame(page);
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

/** Reports of violations, by directive, under the policy that Jenkins sends. */
async function violations(browser) {
  const found = {};
  const server = http.createServer((request, response) => {
    if (request.method === "POST") {
      const parts = [];
      request.on("data", (part) => parts.push(part));
      request.on("end", () => {
        const directive = JSON.parse(Buffer.concat(parts))["csp-report"]["violated-directive"];
        found[directive] = (found[directive] ?? 0) + 1;
        response.end();
      });
      return;
    }
    if (request.url !== "/") return response.writeHead(204).end();
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": STRICT });
    response.end(fs.readFileSync(report));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: "networkidle0" });
  await page.close();
  server.close();
  return found;
}

driven(kind, executablePath, async (browser) => {
  const seen = { bytes: fs.statSync(report).size };
  const { page, errors } = await opened(browser, { width: 1600, height: 900 });
  await frame(page);
  seen.times = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    ready: performance.getEntriesByName("tz-ready")[0]?.startTime,
  }));
  seen.form = await page.evaluate(() => document.documentElement.dataset.tz ?? "none");
  if (seen.form === "ready") {
    seen.moves = await frames(page);
    seen.answers = await answers(page, searched);
  }
  if (kind === "chrome") {
    seen.heap = (await page.metrics()).JSHeapUsedSize;
    const pdf = Buffer.from(await page.pdf({ format: "A4", timeout: 120000 })).toString("latin1");
    seen.pages = pdf.match(/\/Type\s*\/Page\b/g).length;
  }
  seen.violations = await page.evaluate(() => globalThis.violations);
  seen.errors = errors;
  await page.close();
  seen.narrow = {};
  for (const [name, viewport] of Object.entries(NARROW)) {
    const { page } = await opened(browser, viewport);
    seen.narrow[name] = await unusable(page);
    await page.close();
  }
  const odd = await opened(browser, { width: 1280, height: 720 }, () => {
    Date.now = () => 0;
    delete globalThis.Worker;
    Object.defineProperty(globalThis, "localStorage", {
      get() {
        throw new DOMException("denied", "SecurityError");
      },
    });
  });
  seen.odd = { form: await odd.page.evaluate(() => document.documentElement.dataset.tz ?? "none"), errors: odd.errors };
  seen.jenkins = await violations(browser);
  return seen;
});
