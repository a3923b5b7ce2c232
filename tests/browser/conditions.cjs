// Opens a report as CI servers, screen readers and printers do. Prints what it saw as JSON.
//
//     node conditions.cjs BROWSER EXECUTABLE REPORT.html
const fs = require("node:fs");
const http = require("node:http");
const puppeteer = require("puppeteer-core");

const [kind, executablePath, report] = process.argv.slice(2);
/** The policy of Jenkins for artifacts: neither scripts nor styles inside the page. */
const STRICT = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'";

const ready = (page) => page.waitForFunction("document.documentElement.dataset.tz", { timeout: 20000 });

/** The text in the first screen. */
const firstScreen = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("h1, p, span, li, text")]
      .filter((each) => each.getBoundingClientRect().bottom <= innerHeight && each.getBoundingClientRect().height > 0)
      .map((each) => each.textContent)
      .join("\n"),
  );

async function withoutScripts(browser) {
  const server = http.createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": STRICT });
    response.end(fs.readFileSync(report));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 720 });
  let off = null;
  // Firefox has no command for this; its page under the policy runs no scripts either.
  if (kind === "chrome") {
    await page.setJavaScriptEnabled(false);
    await page.goto(`file://${report}`);
    off = await firstScreen(page);
  }
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const strict = await page.evaluate(() => ({
    text: document.body.innerText,
    charts: document.querySelectorAll("#timeline svg path").length,
  }));
  await page.close();
  server.close();
  return { off: off ?? strict.text, strict };
}

/** Violations of accessibility rules with everything open, and whether the page is wider than the window. */
async function accessibility(browser) {
  const found = [];
  for (const theme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      const page = await browser.newPage();
      await page.setBypassCSP(true);
      await page.setViewport({ width, height: 720 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.goto(`file://${report}`);
      await ready(page);
      for (const button of await page.$$(".tz-bar button[aria-expanded]")) await button.click();
      await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
      const violations = await page.evaluate(() => axe.run().then((result) => result.violations.map((each) => each.id)));
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      found.push(...violations, ...(isWider ? [`wider than ${width}`] : []));
      await page.close();
    }
  }
  return found;
}

async function main() {
  const args = kind === "chrome" ? ["--no-sandbox", "--disable-gpu"] : [];
  const browser = await puppeteer.launch({ browser: kind, executablePath, headless: true, args });
  const seen = { errors: [] };
  try {
    Object.assign(seen, await withoutScripts(browser));
    // The others need means that only Chromium offers to scripts.
    if (kind === "chrome") seen.accessibility = await accessibility(browser);
    const page = await browser.newPage();
    page.on("pageerror", (error) => seen.errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
    await page.evaluateOnNewDocument(() => {
      delete globalThis.Worker;
      Object.defineProperty(globalThis, "localStorage", {
        get() {
          throw new DOMException("denied", "SecurityError");
        },
      });
    });
    await page.setViewport({ width: 1280, height: 720 });
    await page.goto(`file://${report}`);
    await ready(page);
    seen.form = await page.evaluate(() => document.documentElement.dataset.tz);
    seen.on = await firstScreen(page);
    await page.close();
  } finally {
    await browser.close();
  }
  console.log(JSON.stringify(seen));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
