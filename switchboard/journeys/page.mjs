// A person at the page.

import { say } from '../browser/browser.mjs';

/** Says something once the answer before is over. */
export async function ask(page, text) {
  await page.getByRole('button', { name: 'Send', exact: true }).last().waitFor();
  await say(page, text);
}

/** The question whether a tool of a server may run. */
export function approval(page, server, tool) {
  return page.getByRole('group', { name: `${server} wants to run ${tool}` });
}

/** Approves what is asked. */
export async function approve(page, server, tool) {
  await approval(page, server, tool).getByRole('button', { name: 'Approve', exact: true }).click();
}
