import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createRegistry } from '../../src/sandbox/registry/index.js';

/** The first companies of the sandbox that have a number, as a list. */
export async function writeList(path: string, rows: number): Promise<void> {
  const registry = createRegistry({ seed: 1 });
  const out = createWriteStream(path);
  out.write('name,country,registration_number\n');
  for (let index = 0, written = 0; written < rows; index++) {
    const company = registry.company(index);
    if (company.registrationNumber === null) continue;
    const cells = [company.name, company.countryCode, company.registrationNumber].map(
      (cell) => `"${cell.replaceAll('"', '""')}"`,
    );
    if (!out.write(`${cells.join(',')}\n`)) await once(out, 'drain');
    written += 1;
  }
  out.end();
  await once(out, 'close');
}
