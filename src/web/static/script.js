// Live pages, keys, and a notice when the page has stopped. Every page works without it. The keys are declared as `data-key` in
// web/screens/review.ts and companies.ts.
(() => {
  /** Makes a node like another one and keeps what is the same, so that focus and scrolling stay. */
  const update = (old, now) => {
    if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName) {
      old.replaceWith(now);
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== now.data) old.data = now.data;
      return;
    }
    for (const { name } of [...old.attributes]) {
      if (!now.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    }
    for (const { name, value } of now.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const [before, after] = [[...old.childNodes], [...now.childNodes]];
    for (const [at, node] of after.entries()) {
      if (before[at] === undefined) old.append(node);
      else update(before[at], node);
    }
    for (const node of before.slice(after.length)) node.remove();
  };

  const STOPPED = 'stopped';
  const showStopped = (isStopped) => {
    const shown = document.getElementById(STOPPED);
    if (!isStopped) shown?.remove();
    if (!isStopped || shown !== null) return;
    const notice = document.createElement('p');
    notice.id = STOPPED;
    notice.className = 'notice bad';
    notice.setAttribute('role', 'alert');
    notice.textContent = 'The page was stopped. Start it again: kybatch ui';
    document.body.append(notice);
  };

  // The browser reads the document itself. No text becomes markup here, so trusted types stay on.
  let took = 0;
  const readAgain = () => {
    const begun = Date.now();
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.onload = () => {
      took = Date.now() - begun;
      showStopped(false);
      const main = request.status === 200 && request.response?.getElementById('main');
      if (main) {
        const said = document.querySelector('main > .notice[role="status"]');
        if (said !== null && main.querySelector(':scope > .notice[role="status"]') === null)
          main.prepend(said.cloneNode(true));
        update(document.getElementById('main'), main);
        document.title = request.response.title;
      }
      later();
    };
    request.onerror = () => {
      showStopped(true);
      later();
    };
    request.send();
  };
  // A large run takes longer to count. The page leaves most of the time to it.
  const later = () => {
    if (document.querySelector('main[data-live]') !== null)
      setTimeout(document.hidden ? later : readAgain, Math.max(1000, 4 * took));
  };
  later();

  // A form that the page cannot receive stays filled.
  let isReceived = false;
  document.addEventListener('submit', (event) => {
    if (isReceived) return;
    event.preventDefault();
    const { target, submitter } = event;
    fetch('/script.js', { method: 'HEAD' }).then(
      () => {
        isReceived = true;
        target.requestSubmit(submitter);
      },
      () => showStopped(true),
    );
  });
  // A key that is held, typed ahead or pressed twice must not answer the question that is shown next.
  const PAUSE_MS = 700;
  let lastKeyAt = 0;
  addEventListener('pageshow', ({ timeStamp }) => {
    isReceived = false;
    lastKeyAt = timeStamp;
  });

  document.addEventListener('keydown', (event) => {
    const { target, key, timeStamp } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLElement && target.closest('input, select, textarea')) {
      if (key === 'Escape' || (key === 'Enter' && target.name === 'note')) target.blur();
      return;
    }
    const isSoon = event.repeat || timeStamp - lastKeyAt < PAUSE_MS;
    // Keys that only move the focus are not typed ahead.
    if (key.length === 1) lastKeyAt = timeStamp;
    for (const element of document.querySelectorAll('[data-key]')) {
      if (element.dataset.key !== key) continue;
      event.preventDefault();
      if (element.matches('input, select, textarea')) element.focus();
      else if (!isSoon || element.matches('a')) element.click();
      else element.animate({ opacity: [0.2, 1] }, 400);
      return;
    }
  });
})();
