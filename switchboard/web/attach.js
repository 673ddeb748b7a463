// Files of the message that is being written: chosen, pasted or dropped; sent in base64.

import { fill, h, icon, iconButton } from './dom.js';
import { notice } from './notices.js';
import { text } from './text.js';

/** What a message takes at most; the server has the last word. */
const FILES = 16;
const BYTES = 15 * 2 ** 20;

/** The files beside a composer. */
export class Attachments {
  constructor() {
    this.files = [];
    this.refused = null;
    this.picker = h('input', { type: 'file', multiple: true, hidden: true, tabindex: '-1', 'aria-hidden': 'true' });
    this.picker.addEventListener('change', () => {
      this.add(this.picker.files);
      this.picker.value = '';
    });
    this.button = iconButton('attach', text.attach.choose, () => this.picker.click());
    this.list = h('ul', { class: 'attachments', 'aria-label': text.attach.files, hidden: true });
  }

  /** Takes what is dropped anywhere on `place`, and files that are pasted into `input`. */
  listen(place, input) {
    const brings = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
    place.addEventListener('dragover', (event) => {
      if (!brings(event)) return;
      event.preventDefault();
      place.classList.add('dropping');
    });
    place.addEventListener('dragleave', (event) => {
      if (!place.contains(event.relatedTarget)) place.classList.remove('dropping');
    });
    place.addEventListener('drop', (event) => {
      place.classList.remove('dropping');
      if (!brings(event)) return;
      event.preventDefault();
      this.add(event.dataTransfer.files);
      input.focus();
    });
    input.addEventListener('paste', (event) => {
      const { files } = event.clipboardData;
      // A copied table is words and a picture of them: the words are meant.
      if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
      event.preventDefault();
      this.add(files);
    });
  }

  get empty() {
    return this.files.length === 0;
  }

  /** Adds files, as far as there is room. */
  add(files) {
    for (const file of files) {
      const bytes = this.files.reduce((sum, { size }) => sum + size, file.size);
      if (this.files.length >= FILES) notice(text.attach.tooMany(FILES), 'error');
      else if (bytes > BYTES) notice(text.attach.tooLarge(file.name, BYTES / 2 ** 20), 'error');
      else this.files.push(file);
    }
    this.refused = null;
    this.draw();
  }

  clear() {
    this.files = [];
    this.refused = null;
    this.draw();
  }

  /** Marks the file that the server did not take. */
  refuse(error) {
    const place = /^attachments\[(\d+)\]/.exec(error.details?.field ?? '');
    if (!place) return;
    this.refused = { file: this.files[Number(place[1])], reason: error.message };
    this.draw();
  }

  draw() {
    this.list.hidden = this.empty;
    const items = this.files.map((file) => {
      const away = iconButton('close', text.attach.remove(file.name), () => {
        this.files = this.files.filter((other) => other !== file);
        this.draw();
        this.button.focus();
      });
      const reason = this.refused?.file === file && this.refused.reason;
      return h(
        'li',
        { class: reason ? 'refused' : null },
        icon(reason ? 'warn' : 'attach'),
        reason
          ? h('span', { role: 'alert' }, reason)
          : h('span', { class: 'attachment-name' }, file.name),
        away,
      );
    });
    fill(this.list, items);
  }

  /** The files as the server takes them. */
  bodies() {
    return Promise.all(this.files.map(async (file) => ({ name: file.name, data: await base64(file) })));
  }
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1));
    reader.onerror = () => reject(new Error(text.attach.unreadable(file.name)));
    reader.readAsDataURL(file);
  });
}
