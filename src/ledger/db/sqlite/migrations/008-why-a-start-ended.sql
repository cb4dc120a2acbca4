-- 1 where nothing else that counts in units was under way: remaining_units is what was left after this call, exactly.
ALTER TABLE calls ADD COLUMN exact INTEGER NOT NULL DEFAULT 0;
CREATE INDEX calls_exact ON calls (environment_id, id) WHERE exact = 1;

-- What a start is waiting for, and how it came to its end: JSON, for whoever looks from another terminal, or later.
ALTER TABLE starts ADD COLUMN outages TEXT;
ALTER TABLE starts ADD COLUMN ending TEXT;
