// Opens a report as CI servers, screen readers and printers do. Prints what it saw as JSON.
//
//     node conditions.cjs BROWSER EXECUTABLE REPORT.html
const { accessibility, deprive, driven, opened, underPolicy, watched } = require("./driver.cjs");

const [kind, executablePath, report] = process.argv.slice(2);

/** What the first screen says, and how many shapes its charts have. */
function firstScreen() {
  const text = [...document.querySelectorAll("h1, p, span, li, text")]
    .filter((each) => each.getBoundingClientRect().bottom <= innerHeight && each.getBoundingClientRect().height > 0)
    .map((each) => each.textContent)
    .join("\n");
  return { text, charts: document.querySelectorAll("#timeline svg path").length };
}

async function withoutScripts(browser) {
  const page = await watched(browser, []);
  await page.setJavaScriptEnabled(false);
  await page.goto(`file://${report}`);
  const { text } = await page.evaluate(firstScreen);
  await page.close();
  return text;
}

/** Violations of accessibility rules with everything open, and whether the page is wider than the window. */
async function violations(browser) {
  const found = [];
  for (const theme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      const page = await watched(browser, [], { width, height: 720 });
      await page.setBypassCSP(true);
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await opened(page, report);
      for (const button of await page.$$(".tz-bar button[aria-expanded]")) await button.click();
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      found.push(...(await accessibility(page)), ...(isWider ? [`wider than ${width}`] : []));
      await page.close();
    }
  }
  return found;
}

/** The number of sheets that the report has on paper. */
async function sheets(page) {
  const pdf = Buffer.from(await page.pdf({ format: "A4", timeout: 120000 })).toString("latin1");
  return pdf.match(/\/Type\s*\/Page\b/g).length;
}

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [], strict: await underPolicy(browser, report, firstScreen) };
  // The others need means that only Chromium offers to scripts. A page under the policy runs no scripts either.
  seen.off = kind === "chrome" ? await withoutScripts(browser) : seen.strict.text;
  if (kind === "chrome") seen.accessibility = await violations(browser);
  const page = await watched(browser, seen.errors);
  await deprive(page);
  seen.form = await opened(page, report);
  seen.on = (await page.evaluate(firstScreen)).text;
  if (kind === "chrome") seen.sheets = await sheets(page);
  return seen;
});
