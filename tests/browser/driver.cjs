// Starts a browser for a script, and prints what the script saw as JSON.
const puppeteer = require("puppeteer-core");

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
