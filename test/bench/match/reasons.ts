/** The right reasons for each kind of damage that only a person can judge. */
export const RIGHT_REASONS: Readonly<Record<string, readonly string[]>> = {
  scientific_truncated: ['NUMBER_UNREADABLE'],
  zeros_after_15_digits: ['NUMBER_UNREADABLE'],
  letter_o: ['NUMBER_UNREADABLE'],
  missing_prefix: ['NAME_CONFLICT', 'NAME_NEEDED', 'NUMBER_CONFLICT', 'NUMBER_UNREADABLE'],
  without_court: ['NUMBER_UNREADABLE', 'NAME_NEEDED', 'SEVERAL_CANDIDATES'],
  without_court_elsewhere: ['NUMBER_UNREADABLE', 'NAME_NEEDED', 'SEVERAL_CANDIDATES'],
  ein_as_number: ['NUMBER_UNREADABLE'],
  // Some pass a weak check digit. Then no company has the number, and the company of that name has another.
  failed_checksum: ['NUMBER_UNREADABLE', 'NUMBER_CONFLICT'],
  decoy: ['NAME_CONFLICT'],
  decoy_alone: ['NUMBER_ALONE', 'NUMBER_UNREADABLE', 'NAME_NEEDED'],
  swapped_alone: ['NUMBER_ALONE', 'NUMBER_UNREADABLE', 'NAME_NEEDED'],
  decoy_with_name: ['NAME_CONFLICT', 'NUMBER_UNREADABLE'],
  name_conflict: ['NAME_CONFLICT'],
  name_only: ['NAME_ONLY'],
  namesake: ['NAME_ONLY'],
  candidate_without_number: ['NAME_ONLY', 'CANDIDATE_WITHOUT_NUMBER'],
  record_mismatch: ['IDENTITY_MISMATCH'],
};
