// The part of scripts/page-check that drives Chromium: node page-check.js HOME PAGE...
// HOME holds node_modules and receives the screenshots.
const fs = require("node:fs");
const path = require("node:path");

const [home, ...pages] = process.argv.slice(2);
const { chromium } = require(path.join(home, "node_modules/playwright-core"));
const axe = fs.readFileSync(path.join(home, "node_modules/axe-core/axe.min.js"), "utf8");

const SIGHTS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
];
const MOST_BYTES = 5_000_000;
const MOST_MS = 2000;
const faults = [];

function check(good, what) {
  if (!good) faults.push(what);
}

// What the embedded pictures carry: markers and chunks that hold metadata.
function metadata(html) {
  const found = [];
  for (const [, data] of html.matchAll(/src="data:image\/[a-z]+;base64,([^"]+)"/g)) {
    const bytes = Buffer.from(data, "base64").toString("latin1");
    for (const word of ["exif:GPS", "http://ns.adobe.com/xap", "Photoshop 3.0", "tEXt", "iTXt", "eXIf"]) {
      if (bytes.includes(word)) found.push(word);
    }
    const exif = bytes.indexOf("Exif\0\0");
    if (exif >= 0 && bytes.charCodeAt(exif - 2) * 256 + bytes.charCodeAt(exif - 1) > 64) found.push("EXIF beyond the orientation");
  }
  return found;
}

async function dividers(page, label) {
  const inputs = await page.locator(".over input").all();
  for (const input of inputs) {
    const at = () => input.evaluate((node) => getComputedStyle(node.parentNode).getPropertyValue("--at"));
    await input.focus();
    await page.keyboard.press("Home");
    check((await at()) === "0%", `${label}: Home does not move the divider to the left: ${await at()}`);
    await page.keyboard.press("ArrowRight");
    check((await at()) === "1%", `${label}: an arrow key does not move the divider: ${await at()}`);
    const box = await input.boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5);
    check(Math.abs(parseInt(await at(), 10) - 50) <= 2, `${label}: a click does not move the divider: ${await at()}`);
  }
  return inputs.length;
}

async function look(browser, file, sight) {
  const label = `${path.basename(file, ".html")}-${sight.name}`;
  const { name, ...options } = sight;
  // The page forbids every script but its own, so the checker must be let in past its policy; a first load without that
  // shows whether the page's own policy holds.
  for (const bypassCSP of [false, true]) {
    const context = await browser.newContext({ ...options, bypassCSP });
    const page = await context.newPage();
    page.on("console", (message) => check(!["error", "warning"].includes(message.type()), `${label}: console: ${message.text()}`));
    page.on("pageerror", (error) => check(false, `${label}: ${error}`));
    page.on("request", (request) => check(/^(file|data):/.test(request.url()), `${label}: asks for ${request.url()}`));
    const began = performance.now();
    await page.goto(`file://${file}`, { waitUntil: "load" });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const ms = Math.round(performance.now() - began);
    if (!bypassCSP) {
      check(ms < MOST_MS, `${label}: opens in ${ms} ms`);
      const shown = await dividers(page, label);
      check(shown > 0, `${label}: no picture is shown before and after`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${label}: ${wide} pixels wider than the screen`);
      await page.mouse.move(0, 0);
      await page.evaluate(() => document.activeElement.blur());
      await page.screenshot({ path: path.join(home, `${label}.png`), fullPage: true });
      console.log(`${label}: ${ms} ms, ${shown} pictures`);
    } else {
      await page.evaluate(axe);
      const result = await page.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
      for (const violation of result.violations) {
        for (const node of violation.nodes) check(false, `${label}: axe: ${violation.id}: ${node.html.slice(0, 120)}: ${node.failureSummary}`);
      }
    }
    await context.close();
  }
}

async function main() {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    for (const file of pages) {
      const html = fs.readFileSync(file, "utf8");
      check(html.length < MOST_BYTES, `${file}: ${html.length} bytes`);
      for (const word of metadata(html)) check(false, `${file}: an embedded picture carries ${word}`);
      console.log(`${path.basename(file)}: ${html.length} bytes`);
      for (const sight of SIGHTS) await look(browser, file, sight);
    }
  } finally {
    await browser.close();
  }
  for (const fault of faults) console.error(fault);
  if (faults.length) process.exit(1);
  console.log("the page opens, fits, can be used by keyboard and asks for nothing");
}

main();
