"""The page: a profile as one HTML file that opens in any browser, without a network or another file.

    databases ─ Profile ─ tables.TABLES ─> columns ─ block ─> bytes
    script/*.js ─ bundle ─> one script;  style/*.css ─> one style
    page.html + style + script + blocks ─ page.html_of ─> the file

`data/` has the tables of the block, declared beside what fills them; docs/page.md lists them. The script reads the
block alone. Names and sources become text of the page, never markup: they are in no part of the file but the blocks,
and the file's security policy lets no script run but ours.
"""
