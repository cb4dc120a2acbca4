/** Why a documented field has no column of its own: the first of these that fits. */
const REASONS: readonly { readonly operation: RegExp; readonly path: RegExp; readonly why: string }[] = [
  { operation: /./, path: /^(?:total_pages|pages)$/, why: 'describes the pages, which are all asked for' },
];

export const whyNoColumn = (operation: string, path: string): string | undefined =>
  REASONS.find((reason) => reason.operation.test(operation) && reason.path.test(path))?.why;
