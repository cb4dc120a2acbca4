-- What the cells of a row were in the workbook that it came from, a letter each: n a number, d a day, - anything else, which may be
-- left out at the end. Null: texts, as all cells of a text file are.
ALTER TABLE rows ADD COLUMN input_kinds TEXT;
