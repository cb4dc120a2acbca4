import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findResponse } from '../../../src/api/mcp/wire.js';

const found = (body: string, id: string | number = 7) => findResponse(Buffer.from(body), id);

describe('the answer to a request', () => {
  test.each([
    ['a JSON body', '{"jsonrpc":"2.0","id":7,"result":{"n": 1.10}}'],
    ['a JSON body after blanks', '\r\n {"result":{"n": 1.10},"jsonrpc":"2.0","id": 7}\n'],
    ['an event', 'event: message\ndata: {"jsonrpc":"2.0","id":7,"result":{"n": 1.10}}\n\n'],
    ['an event without a type, and no blank after the colon', 'data:{"id":7,"result":{"n": 1.10}}\n\n'],
    ['an event in several lines', 'data: {"id":7,\r\ndata: "result":{"n": 1.10}}\r\n\r\n'],
    [
      'an event after others',
      ': hello\n\nid: 1\ndata:\n\ndata: {"method":"ping","id":7}\n\ndata: {"id":7,"result":{"n": 1.10}}\n\n',
    ],
  ])('is found in %s, byte for byte', (_, body) => {
    expect(found(body)?.result?.toString()).toBe('{"n": 1.10}');
  });

  test.each([
    ['to another request', '{"id":8,"result":{}}'],
    ['to a request whose ID is text', '{"id":"7","result":{}}'],
    ['that is cut off', '{"id":7,"result":{"n"'],
    ['in an event that is cut off', 'data: {"id":7,"result":{}}\n'],
    ['in an event of another type', 'event: other\ndata: {"id":7,"result":{}}\n\n'],
    ['that is a page', '<html>data: {"id":7,"result":{}}\n\n</html>'],
    ['that is nothing', ''],
    ['that has neither result nor error', '{"id":7}'],
    ['that asks, too', '{"id":7,"method":"ping","result":{}}'],
    ['in a list', '[{"id":7,"result":{}}]'],
  ])('is not one %s', (_, body) => {
    expect(found(body)).toBeUndefined();
  });

  test('has equal bytes for any result and any form of the stream', () => {
    const ending = fc.constantFrom('\n', '\r\n', '\r');
    const noise = fc.constantFrom(
      ': keep-alive',
      'retry: 10',
      'id: 3',
      'data: {"method":"x"}',
      'data',
      'event: message',
    );
    fc.assert(
      fc.property(fc.json(), ending, fc.array(noise), fc.oneof(fc.nat(), fc.string()), (result, end, before, id) => {
        const message = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
        const lines = [...before.flatMap((line) => [line, '']), `data: ${message}`, '', ''];
        for (const body of [message, `: open${end}${end}${lines.join(end)}`])
          expect(found(body, id)?.result?.toString()).toBe(result);
      }),
    );
  });

  test('is never made of arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(findResponse(Buffer.from(bytes), 7)).toBeUndefined();
      }),
    );
  });
});
