-- a dump
CREATE TABLE prices (symbol text, price numeric);
INSERT INTO prices VALUES ('A', 1);
