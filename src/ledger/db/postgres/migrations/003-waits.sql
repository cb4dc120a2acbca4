-- Where the row of a lost call waits. A new ledger has the columns already.
ALTER TABLE calls ADD COLUMN IF NOT EXISTS waits_run text, ADD COLUMN IF NOT EXISTS waits_row bigint;
