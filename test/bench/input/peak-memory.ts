/** Reads a file and prints the peak memory in megabytes. */
import { readOurs } from './read-speed.js';

const [path = ''] = process.argv.slice(2);
await readOurs(path);
console.log(process.resourceUsage().maxRSS / 1_024);
