// Draws diagrams for the page, in a sandboxed frame: what runs here has no origin, no storage and no
// network. It is handed its library, and all it can do is answer with a picture.

(() => {
  const OPTIONS = {
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    fontFamily: 'sans-serif',
    // The picture is shown as an image, which has no HTML.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
  };
  let number = 0;

  addEventListener('message', async ({ source, data }) => {
    if (source !== parent) return;
    const { library, id, code, theme } = data;
    try {
      if (library) {
        await take(library);
        parent.postMessage({ ready: true }, '*');
        return;
      }
      mermaid.initialize({ ...OPTIONS, theme });
      number += 1;
      const { svg } = await mermaid.render(`diagram-${number}`, code);
      parent.postMessage({ id, svg: standalone(svg) }, '*');
    } catch (error) {
      parent.postMessage({ id, error: String(error?.message ?? error) }, '*');
    }
  });

  /** Runs the library, which defines `mermaid`. */
  function take(library) {
    const script = document.createElement('script');
    script.src = URL.createObjectURL(new Blob([library], { type: 'text/javascript' }));
    return new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = () => reject(new Error('the library does not run'));
      document.head.append(script);
    });
  }

  /** The picture as a file of its own: well-formed, and as large as what is in it. */
  function standalone(markup) {
    const svg = new DOMParser().parseFromString(markup, 'text/html').querySelector('svg');
    const { width, height } = svg.viewBox.baseVal;
    svg.setAttribute('width', width);
    svg.setAttribute('height', height);
    return new XMLSerializer().serializeToString(svg);
  }
})();
