// Live values and keys. Every page works without it.
(() => {
  for (const part of document.querySelectorAll('[data-stream]')) {
    // Event streams cannot set headers, so the type is asked for by the browser itself.
    const source = new EventSource(part.dataset.stream);
    source.onmessage = ({ data }) => {
      for (const [name, value] of Object.entries(JSON.parse(data))) {
        for (const element of document.querySelectorAll(`[data-live="${name}"]`)) {
          if (typeof value === 'string') element.textContent = value;
          else for (const [attribute, text] of Object.entries(value)) element.setAttribute(attribute, text);
        }
      }
    };
    source.addEventListener('end', () => {
      source.close();
      location.reload();
    });
  }
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLElement && target.closest('input, select, textarea')) {
      if (key === 'Escape') target.blur();
      return;
    }
    for (const element of document.querySelectorAll('[data-key]')) {
      if (element.dataset.key !== key) continue;
      event.preventDefault();
      if (element.matches('input, select, textarea')) element.focus();
      else element.click();
      return;
    }
  });
})();
