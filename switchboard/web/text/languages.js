// The languages of the page. Another one is a file beside this one, and a row here.

export const LANGUAGES = [
  { tag: 'en', name: 'English', load: () => import('./en.js') },
  { tag: 'zh', name: '简体中文', load: () => import('./zh.js') },
];

/** The language of the setting, or the first that the browser asks for and that is there, or English. */
export function pick(setting, wanted) {
  const of = (tag) => LANGUAGES.find((it) => it.tag === tag.toLowerCase().split('-')[0]);
  return [setting ?? '', ...wanted].map(of).find(Boolean) ?? LANGUAGES[0];
}
