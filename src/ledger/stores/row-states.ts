/** Nothing is bought for who is in no list any more. Rows of versions before there were lists have no member. */
export const STILL_LISTED =
  'NOT EXISTS (SELECT 1 FROM members WHERE members.id = rows.member_id AND members.left_at IS NOT NULL)';

/** What a row is that came to rest, and goes on. */
export const GOES_ON =
  "outcome = 'pending', hold = NULL, hold_reason = NULL, next_at = NULL, error_code = NULL, error_message = NULL";

/** A run with rows that go on. */
export const REOPEN_RUN =
  "UPDATE runs SET state = 'open', finished_at = NULL, superseded_by = NULL, put_away = 0 WHERE id = ?";
