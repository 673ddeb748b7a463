// Chromium, and pages that are watched: whatever a page should not do is a fault.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const { chromium } = createRequire(join(process.env.PLAYWRIGHT, 'package.json'))('playwright-core');
const SHOTS = process.env.SHOTS;
mkdirSync(SHOTS, { recursive: true });

let browser = null;

/** The browser of this test file. */
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  return browser;
}

export async function quit() {
  await browser?.close();
}

/** A visitor: a browser profile of their own, whose pages are watched. */
export class Visitor {
  static async arrive(program, options = {}) {
    const visitor = new Visitor();
    visitor.program = program;
    visitor.faults = [];
    visitor.expected = [];
    const { expect: expected = [], ...rest } = options;
    visitor.expected.push(...expected);
    visitor.context = await (
      await launch()
    ).newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...rest });
    visitor.context.setDefaultTimeout(30_000);
    visitor.context.on('page', (page) => visitor.watch(page));
    return visitor;
  }

  watch(page) {
    const fault = (text) => this.faults.push(text);
    page.on('pageerror', (error) => fault(`error: ${error.stack}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') fault(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (!['blob:', 'data:', 'about:'].includes(url.protocol) && url.origin !== this.program.url)
        fault(`request: ${request.url()}`);
    });
  }

  /** A tab with the page, opened by the ready link. */
  async open(path = '') {
    const page = await this.context.newPage();
    await page.goto(this.program.link);
    await page.locator('#side').waitFor({ state: 'attached' });
    if (path)
      await page.evaluate((to) => {
        location.hash = `#/${to}`;
      }, path);
    return page;
  }

  /** Nothing went wrong but what was expected. */
  check() {
    const wrong = this.faults.filter((fault) => !this.expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(wrong, [], 'the page did something it should not');
  }
}

/** A test with a visitor, who sees to it that the page does nothing it should not. */
export function scene(program, name, options, body) {
  test(name, async () => {
    const visitor = await Visitor.arrive(program, options);
    try {
      await body(visitor);
      visitor.check();
    } catch (error) {
      const pages = visitor.context.pages();
      const file = name.replace(/\W+/g, '-').slice(0, 50);
      await Promise.all(pages.map((page, number) => picture(page, `failed-${file}-${number}`)));
      for (const fault of visitor.faults) console.log(fault);
      throw error;
    } finally {
      await visitor.context.close();
    }
  });
}

/** Text of a message, as it is seen. */
export function said(page, text, options) {
  return page.getByRole('region', { name: 'Messages' }).getByText(text, options);
}

/** Keeps a picture of the page. */
export async function picture(page, name) {
  await page.screenshot({ path: join(SHOTS, `${name}.png`), animations: 'disabled' });
}

/** Writes a message and sends it with Enter. */
export async function say(page, text) {
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill(text);
  await composer.press('Enter');
}

/** The block of a tool's call. */
export function callOf(page, tool) {
  return page.getByRole('region', { name: `Tool call ${tool}`, exact: true });
}

/** Waits until `check` holds, which is asked again whenever something may have changed. */
export async function until(check, what) {
  const end = Date.now() + 30_000;
  for (;;) {
    if (await check()) return;
    if (Date.now() > end) throw new Error(`never came about: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}
