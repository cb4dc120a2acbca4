/** A number in [0, 1) that follows from its inputs alone: the same seed draws the same faults and delays. */
export function draw(seed: number, ...salts: readonly (number | string)[]): number {
  let hash = (seed ^ 0x9e3779b9) >>> 0;
  for (const salt of salts) {
    hash = typeof salt === 'number' ? mix(hash, salt) : mixText(hash, salt);
  }
  return mix(hash, 0x51ed270b) / 0x1_0000_0000;
}

function mixText(start: number, text: string): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = mix(hash, text.charCodeAt(index));
  return mix(hash, text.length);
}

function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ value, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
