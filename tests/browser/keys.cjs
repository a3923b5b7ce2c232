// Keys of a page on which nothing has the focus, and what a search and Enter show. Prints what it saw as JSON.
//
//     node keys.cjs BROWSER EXECUTABLE REPORT.html WORD
const { driven, opened, watched } = require("./driver.cjs");

const [kind, executablePath, report, word] = process.argv.slice(2);

const texts = () => ({
  focus: document.activeElement.tagName,
  help: document.querySelectorAll(".tz-help").length,
  hits: document.querySelector("[id$=-hits]").textContent,
  message: document.querySelector("[id$=-message]").textContent,
  range: document.querySelector(".tz-range").textContent,
  mode: document.querySelector(".tz-bar select").value,
  notes: [...document.querySelectorAll(".tz > .tz-note")].map((each) => each.textContent),
  rows: [...document.querySelectorAll("[id$=-list] li")].map((each) => each.textContent),
});

driven(kind, executablePath, async (browser) => {
  const seen = { errors: [] };
  const page = await watched(browser, seen.errors);
  await opened(page, report);
  seen.first = await page.evaluate(texts);
  await page.keyboard.press("?");
  seen.help = await page.evaluate(texts);
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.keyboard.press("Enter");
  seen.finding = await page.evaluate(texts);
  await opened(page, report);
  await page.keyboard.press("/");
  await page.keyboard.type(word);
  seen.search = await page.evaluate(texts);
  await page.keyboard.press("Enter");
  seen.next = await page.evaluate(texts);
  return seen;
});
