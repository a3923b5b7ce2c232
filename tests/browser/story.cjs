// Opens a report in a browser and follows a story with the keyboard only. Prints what it saw as JSON.
//
//     node story.cjs BROWSER EXECUTABLE REPORT.html SCREENSHOT.png
const { driven, opened, settled, watched } = require("./driver.cjs");

const [kind, executablePath, report, screenshot] = process.argv.slice(2);

/** Sums of the table below the lanes, in nanoseconds by class. */
const readSums = (page) =>
  page.$$eval("#tz-sums tr[data-class]", (rows) => Object.fromEntries(rows.map((row) => [row.dataset.class, Number(row.dataset.ns)])));

async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settled(page);
  }
}

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], requests: [] };
  const page = await watched(browser, seen.errors);
  // Firefox has fonts of its own as data: URLs. The page has none, and they are no requests to anywhere.
  page.on("request", (request) => /^(file|data):/.test(request.url()) || seen.requests.push(request.url()));
  seen.form = await opened(page, report);
  seen.charts = await page.evaluate(() => [...document.querySelectorAll("#timeline figure")].filter((each) => !each.inert).length);
  if (seen.form !== "ready") return seen;
  await settled(page);
  seen.whole = await readSums(page);
  seen.range = await page.$eval(".tz-range", (element) => element.textContent);
  for (let tabs = 0; tabs < 40; tabs++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.classList.contains("tz-lanes"))) break;
    seen.tabs = tabs;
  }
  await press(page, "n");
  seen.finding = await page.$eval("#tz-message", (element) => element.textContent);
  await press(page, "Enter");
  // The address follows when the view rests: it has the finding, and the range unless that is the whole one.
  const isThere = (whole) => {
    const { hash } = location;
    const hasRange = hash.includes("t=") || document.querySelector(".tz-range").textContent === whole;
    return (hash.includes("f=0") && hasRange) || !document.querySelector("article");
  };
  await page.waitForFunction(isThere, { timeout: 5000 }, seen.range);
  seen.link = await page.evaluate(() => location.hash);
  await press(page, "b");
  seen.selection = await readSums(page);
  seen.lane = await page.$eval("section[aria-label=Lane] h3", (element) => element.textContent);
  await press(page, "Escape", "0", "]");
  seen.stretch = await page.$eval("#tz-message", (element) => element.textContent);
  await press(page, "?");
  seen.help = await page.$$eval(".tz-help", (found) => found.length);
  await press(page, "Escape", "m", "m", "m", "m");
  seen.mode = await page.$eval(".tz-bar select", (element) => element.value);
  seen.lanes = await page.$$eval("#tz-list li", (items) => items.map((item) => item.textContent));
  await press(page, ...Array(10).fill("w"), ...Array(30).fill("ArrowRight"), ...Array(30).fill("ArrowLeft"), "0");
  await press(page, "/");
  await page.keyboard.type("a");
  await settled(page);
  seen.search = await page.$eval(".tz-bar .tz-note", (element) => element.textContent);
  await page.goto(`file://${report}${seen.link}`);
  seen.timing = await page.evaluate(() => {
    const frames = performance.getEntriesByName("tz-frame").map((entry) => entry.duration).sort((a, b) => a - b);
    const [ready] = performance.getEntriesByName("tz-ready");
    return { ready: ready?.startTime, frames: frames.length, p95: frames[Math.floor(frames.length * 0.95)], max: frames.at(-1) };
  });
  seen.hash = await page.evaluate(() => location.hash);
  seen.foreign = await page.evaluate(() => document.querySelectorAll("main img, main iframe, main b, .tz script").length);
  await page.screenshot({ path: screenshot });
  return seen;
});
