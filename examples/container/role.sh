#!/bin/sh
# Run once by the image of PostgreSQL, in a new database: the role that the engine connects as. It owns nothing and is no superuser.
# What it may do with a table, the table's owner grants: `noisygd-delete watch STORE --sql` prints it.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$ENGINE_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE engine LOGIN PASSWORD :'password';
CREATE SCHEMA noisygd_delete;
CREATE TABLE noisygd_delete.marks (mark text PRIMARY KEY);
GRANT USAGE ON SCHEMA noisygd_delete TO engine;
GRANT SELECT, INSERT ON noisygd_delete.marks TO engine;
SQL
