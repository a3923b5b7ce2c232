// What the scripts of this folder share: a browser, pages of which errors are counted, and the policy of a CI server.
const fs = require("node:fs");
const http = require("node:http");
const puppeteer = require("puppeteer-core");

/** The policy of Jenkins for artifacts: neither scripts nor styles inside the page. */
const STRICT = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'; report-uri /violation";

/** Starts a browser for a script, and prints what the script saw as JSON. */
exports.driven = async (kind, executablePath, act) => {
  const args = kind === "chrome" ? ["--no-sandbox", "--disable-gpu"] : [];
  const browser = await puppeteer.launch({ browser: kind, executablePath, headless: true, args });
  try {
    console.log(JSON.stringify(await act(browser)));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
};

/** A new page; its errors are added to a list. */
exports.watched = async (browser, errors, viewport = { width: 1280, height: 720 }) => {
  const page = await browser.newPage();
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => errors.push(`dialog ${dialog.message()}`));
  await page.setViewport(viewport);
  return page;
};

/** Opens a report and waits for its timeline; the form that the timeline has. */
exports.opened = async (page, report) => {
  await page.goto(`file://${report}`);
  // A page without a window has no data, and stays as it is.
  await page.waitForFunction("!document.querySelector('[id^=tz-][id$=meta]') || document.documentElement.dataset.tz", {
    timeout: 30000,
  });
  return page.evaluate(() => document.documentElement.dataset.tz ?? "none");
};

/** Waits until a change is drawn. */
exports.settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** The pixels of a canvas in a page, read from a copy: browsers warn of many readings of a canvas that is drawn. */
exports.readPixels = (page) =>
  page.evaluate(() => {
    window.pixelsOf = (canvas, x, y, width, height) => {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      return context.getImageData(x, y, width, height).data;
    };
  });

/** Names of the accessibility rules that a page violates. Only Chromium lets a test add a script to a page with a policy. */
exports.accessibility = async (page) => {
  await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
  return page.evaluate(() => axe.run().then((result) => result.violations.map((each) => each.id)));
};

/** Before the scripts of a page: no workers, no storage, and a clock that stands at 0. */
exports.deprive = (page) =>
  page.evaluateOnNewDocument(() => {
    Date.now = () => 0;
    delete globalThis.Worker;
    Object.defineProperty(globalThis, "localStorage", {
      get() {
        throw new DOMException("denied", "SecurityError");
      },
    });
  });

/** Opens a report as Jenkins serves it: what `look` sees in the page, and the violations of the policy by directive. */
exports.underPolicy = async (browser, report, look) => {
  const violations = {};
  const server = http.createServer((request, response) => {
    if (request.method === "POST") {
      const parts = [];
      request.on("data", (part) => parts.push(part));
      request.on("end", () => {
        const directive = JSON.parse(Buffer.concat(parts))["csp-report"]["effective-directive"];
        violations[directive] = (violations[directive] ?? 0) + 1;
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
  await page.setViewport({ width: 1280, height: 720 });
  await page.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: "networkidle0" });
  const seen = await page.evaluate(look);
  await page.close();
  server.close();
  return { ...seen, violations };
};
