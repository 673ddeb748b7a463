// The files of a message that was sent: pictures are shown, sounds play, others can be saved.

import { bytes } from './api.js';
import { button, h } from './dom.js';
import { act, failed } from './notices.js';
import { saveFile } from './result.js';
import { text } from './text.js';

const PICTURES = /^image\/(?:png|jpeg|gif|webp)$/;

export class Attached {
  constructor(files, talk) {
    this.talk = talk;
    this.urls = [];
    this.element = h('ul', { class: 'attached', 'aria-label': text.attach.files });
    for (const file of files) {
      const item = h('li', {});
      this.element.append(item);
      if (PICTURES.test(file.mimeType)) this.show(file, item, 'img').catch(failed);
      else if (file.mimeType.startsWith('audio/')) this.show(file, item, 'audio').catch(failed);
      else item.append(this.save(file));
    }
  }

  read(file) {
    return bytes(`${this.talk.path}/blobs/${file.id}`);
  }

  async show(file, item, tag) {
    const url = URL.createObjectURL(await this.read(file));
    this.urls.push(url);
    const grown = () => item.dispatchEvent(new Event('grown', { bubbles: true }));
    item.append(
      tag === 'img'
        ? h('img', { src: url, alt: file.name, title: file.name, onload: grown })
        : h('audio', { controls: true, src: url, 'aria-label': file.name }),
    );
  }

  save(file) {
    const save = button(file.name, () => act(save, async () => saveFile(await this.read(file), file.name)), {
      class: 'button small',
      icon: 'attach',
      title: text.attach.save(file.name),
    });
    return save;
  }

  leave() {
    for (const url of this.urls) URL.revokeObjectURL(url);
  }
}
