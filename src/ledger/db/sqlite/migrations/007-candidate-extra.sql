-- JSON: what the search said of a candidate and has no column (its source; status and address of a report's company).
ALTER TABLE candidates ADD COLUMN extra TEXT;
