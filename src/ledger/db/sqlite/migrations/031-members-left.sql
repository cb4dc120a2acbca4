-- What the page counts again and again (docs/developers/performance.md).
CREATE INDEX members_left ON members (id) WHERE left_at IS NOT NULL;
