import { useRoute, withBase } from 'vitepress';
import theme from 'vitepress/theme';
import { nextTick, onMounted, watch } from 'vue';

interface Mermaid {
  initialize(options: { readonly startOnLoad: boolean; readonly theme: string }): void;
  run(): Promise<void>;
}

/** Draws the diagrams of a page in the browser. GitHub draws the same code blocks. */
async function drawDiagrams(): Promise<void> {
  if (document.querySelector('pre.mermaid:not([data-processed])') === null) return;
  const mermaid = await loadMermaid();
  mermaid.initialize({ startOnLoad: false, theme: 'neutral' });
  await mermaid.run();
}

/** A classic script that sets a global. The config copies it beside the pages. */
const loadMermaid = (): Promise<Mermaid> =>
  new Promise((done, fail) => {
    const loaded = globalThis as unknown as { readonly mermaid?: Mermaid };
    if (loaded.mermaid !== undefined) return done(loaded.mermaid);
    const script = document.createElement('script');
    script.src = withBase('/mermaid.tiny.js');
    script.onload = () => (loaded.mermaid === undefined ? fail(new Error('no mermaid')) : done(loaded.mermaid));
    script.onerror = () => fail(new Error(`${script.src} cannot be loaded`));
    document.head.append(script);
  });

export default {
  extends: theme,
  setup() {
    const route = useRoute();
    onMounted(drawDiagrams);
    watch(
      () => route.path,
      () => nextTick(drawDiagrams),
    );
  },
};
