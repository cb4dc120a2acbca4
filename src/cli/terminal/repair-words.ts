import { type RepairRule, repairInWords } from '../../domain/numbers/types.js';

/** The rule alone, without the number it was applied to. */
export const repairRuleInWords = (rule: RepairRule): string =>
  rule === 'zero_padding' ? 'padding with zeros' : repairInWords({ rule, before: '', after: '' });
