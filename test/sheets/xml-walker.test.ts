import fc from 'fast-check';
import { expect, test } from 'vitest';
import { XmlWalker } from '../../src/sheets/xlsx/xml.js';

/** The events of the walker, with adjacent texts joined. */
function walk(pieces: readonly string[]): string[] {
  const met: string[] = [];
  const walker = new XmlWalker({
    open: (name, attributes) => void met.push(`<${name} ${JSON.stringify(attributes)}`),
    close: (name) => void met.push(`>${name}`),
    text: (text) => {
      if (met.at(-1)?.startsWith('=')) met.push(`${met.pop()}${text}`);
      else met.push(`=${text}`);
    },
  });
  for (const piece of pieces) walker.write(piece);
  walker.end();
  return met;
}

const DOCUMENT =
  '\ufeff<?xml version="1.0"?>\n<!-- <a> -->\r\n<x:a b = "1 > 2" c=\'"&quot;\' xml:d="&#x4e;&#78;">one\r\ntwo &amp; &lt;three&gt;<e/><e f="" /><![CDATA[<raw> & ]]></x:a >\n';

test('tags, attributes, texts, references, comments and CDATA sections', () => {
  expect(walk([DOCUMENT])).toEqual([
    '<a {"b":"1 > 2","c":"\\"\\"","xml:d":"NN"}',
    '=one\ntwo & <three>',
    '<e {}',
    '>e',
    '<e {"f":""}',
    '>e',
    '=<raw> & ',
    '>a',
  ]);
});

test('the pieces may be cut anywhere', () => {
  const cuts = fc.array(fc.nat(DOCUMENT.length), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, (drawn) => {
      const places = [0, ...drawn.sort((a, b) => a - b), DOCUMENT.length];
      const pieces = places.slice(1).map((place, index) => DOCUMENT.slice(places[index], place));
      expect(walk(pieces)).toEqual(walk([DOCUMENT]));
    }),
  );
});

test('a truncated or mixed-up document is refused', () => {
  for (let length = 3; length < DOCUMENT.trimEnd().length; length++) {
    const cut = DOCUMENT.slice(0, length);
    if (cut.includes('<x:a')) expect(() => walk([cut])).toThrow();
  }
  for (const bad of [
    '<a></b>',
    '</a>',
    '<a>&nbsp;</a>',
    '<a>& b</a>',
    '<a b=1/>',
    '<a b/>',
    '<!DOCTYPE a [<!ENTITY b "c">]><a/>',
  ]) {
    expect(() => walk([bad])).toThrow();
  }
});
