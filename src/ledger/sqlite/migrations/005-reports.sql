-- A report in doubt is known by its company, whatever else was asked for with it: another form of it is the same report.
CREATE INDEX calls_reports_in_doubt ON calls (environment_id, subject_space, subject_id) WHERE in_doubt = 1 AND meter = 'report';
