-- The last start on the list was refused before it began: when, and the code of why. Null: one has got through since.
ALTER TABLE portfolios ADD COLUMN refused_at INTEGER;
ALTER TABLE portfolios ADD COLUMN refused_code TEXT;
