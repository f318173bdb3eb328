"""The page: a profile as one HTML file that opens in any browser, without a network or another file.

    databases ─ Profile ─ blocks.TABLES ─> columns ─ block ─> bytes
    script/*.js ─ bundle ─> one script;  style/*.css ─> one style
    page.html + style + script + blocks ─ page.html_of ─> the file

`blocks/` has the tables of the block, each declared in the file that fills it; docs/page.md lists them. The script
reads only the block. Names and sources become text of the page, never markup: they are only in the blocks of the
file, and the file's security policy lets no script run but ours.
"""
