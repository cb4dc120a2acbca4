import { idText } from '../../api/schema.js';
import { isPlainObject } from '../../api/v2/fields.js';
import { ExactNumber, parseExact } from '../../util/exact-json.js';
import { isId } from './inbox.js';

/** Which company a callback names; undefined where it is no change notification. Nothing else of it is believed (V2-13). */
export function companyNamedIn(body: Buffer): string | undefined {
  try {
    const said = parseExact(body);
    const company = isPlainObject(said) ? said.company_data : undefined;
    const id = isPlainObject(company) ? company.id : undefined;
    const text = typeof id === 'string' || id instanceof ExactNumber ? idText(id) : '';
    return isId(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
