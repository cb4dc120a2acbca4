// Draws the ownership graph of a company.

import { Graph, layout } from '@dagrejs/dagre';
import type { GraphEdge, GraphNode, OwnershipGraph } from '../domain/ownership-graph.js';
import { type Html, html, type Markup } from '../util/html.js';
import { decimalWithCommas, withCommas } from '../util/words.js';

const [WIDTH, HEIGHT] = [184, 42];

interface Placed {
  readonly x: number;
  readonly y: number;
}

/** Holders and parents are to the left of the company, the others to the right. */
export function ownershipDrawing(
  { nodes, edges }: OwnershipGraph,
  label: string,
  addressOf: (key: string) => string | undefined,
): Html {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 76, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  const linked = (address: string | undefined, shape: Html) =>
    address === undefined ? shape : html`<a href="${address}">${shape}</a>`;
  const hidden = nodes.flatMap(hiddenBoxes);
  const shown = nodes.map((node) => ({ key: node.key, shape: linked(addressOf(node.key), shapeOf(node)) }));
  const drawn = [...shown, ...hidden];
  for (const { key } of drawn) graph.setNode(key, { width: WIDTH, height: HEIGHT });
  const lines: readonly Line[] = [...edges, ...hidden];
  for (const { from, to, kind } of lines) graph.setEdge(from, to, {}, kind);
  layout(graph);
  const { width = WIDTH, height = HEIGHT } = graph.graph() as { width?: number; height?: number };
  return html`<svg role="group" aria-label="${label}" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" width="${Math.ceil(width)}" height="${Math.ceil(height)}">${lines.map(
    (edge) =>
      edgeShape(edge, (graph.edge(edge.from, edge.to, edge.kind) as { points?: readonly Placed[] }).points ?? []),
  )}${drawn.map(({ key, shape }) => {
    const { x, y } = graph.node(key) as unknown as Placed;
    return html`<g transform="translate(${round(x - WIDTH / 2)} ${round(y - HEIGHT / 2)})">${shape}</g>`;
  })}</svg>`;
}

const box = (kind: string, title: string, first: Markup, second: Markup): Html =>
  html`<rect class="${kind}" width="${WIDTH}" height="${HEIGHT}" rx="6"/><title>${title}</title><text x="10" y="18">${first}</text><text class="d" x="10" y="33">${second}</text>`;

function shapeOf(node: GraphNode): Html {
  const name = node.name ?? 'name not returned';
  const place = placeInWords(node);
  const ends = node.chainEnds && node.kind !== 'subject' ? ' · the data ends here' : '';
  return box(
    node.kind === 'subject' ? 'here' : 'node',
    `${name}, ${place}${ends}`,
    shortened(name),
    shortened(place, 27),
  );
}

const placeInWords = ({ kind, countryCode, registrationNumber }: GraphNode): string => {
  if (kind === 'holder') return 'holder: person or company';
  return [countryCode, registrationNumber].filter((part) => part !== null).join(' · ') || 'number not returned';
};

/** A line without details leads to nodes that are not shown. */
type Line = Pick<GraphEdge, 'from' | 'to'> & Partial<GraphEdge>;

/** Nodes that are not shown are one box beside the node that they belong to. */
const hiddenBoxes = ({ key: node, hiddenAbove, hiddenBelow }: GraphNode) =>
  [
    { key: `${node} above`, count: hiddenAbove, from: `${node} above`, to: node },
    { key: `${node} below`, count: hiddenBelow, from: node, to: `${node} below` },
  ].flatMap(({ count, ...line }) => {
    const words = `and ${withCommas(count)} more`;
    return count === 0 ? [] : [{ ...line, shape: box('node', `${count} more are not shown`, words, 'not shown') }];
  });

function edgeShape(edge: Line, points: readonly Placed[]): Html {
  const path = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
  const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
  const words = edgeInWords(edge);
  return html`<path class="edge" d="${path}"/>${words !== '' && html`<text class="d halo" x="${round(middle.x)}" y="${round(middle.y - 4)}" text-anchor="middle">${words}<title>${[...(edge.statuses ?? []), ...(edge.operations ?? [])].join(', ')}</title></text>`}`;
}

function edgeInWords({ kind, percentages = [] }: Line): string {
  if (kind === undefined) return '';
  if (kind === 'group_link') return 'link';
  return percentages.length === 0 ? '% ?' : percentages.map((text) => `${decimalWithCommas(text)} %`).join(', ');
}

const shortened = (text: string, longest = 22): string => {
  const letters = [...text];
  return letters.length <= longest ? text : `${letters.slice(0, longest - 1).join('')}…`;
};

const round = (value: number): number => Math.round(value * 10) / 10;
