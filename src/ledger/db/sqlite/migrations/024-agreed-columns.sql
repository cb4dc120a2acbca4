-- Which column of the list's files is what, as it was agreed to, and when: by the names of columns, as JSON. Null: nothing was.
ALTER TABLE portfolios ADD COLUMN agreed_columns TEXT;
