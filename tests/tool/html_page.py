# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Pages of runs: that they are whole, need no other file, and have what they should."""

import html.parser

SVG = "http://www.w3.org/2000/svg"
NO_END = {"meta"}  # elements without an end tag


class Page(html.parser.HTMLParser):
    """Reads a page: its text, how often each element occurs, and whether all are closed."""

    def __init__(self, text):
        super().__init__()
        self.counts, self.open, self.words, self.attributes = {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes += attributes
        if tag not in NO_END:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another element")

    def handle_data(self, data):
        self.words.append(data.strip())

    def text(self):
        return "\n".join(word for word in self.words if word)


def whole_page(test, text):
    """The page, having checked that it is whole and alone."""
    test.assertTrue(text.startswith("<!DOCTYPE html>\n"))
    test.assertTrue(text.endswith("</html>\n"))
    page = Page(text)
    test.assertEqual(page.open, [])
    outside = text.replace(SVG, "")
    test.assertNotRegex(outside, r"https?:|//|@import|url\((?!#)")
    test.assertEqual({name for name, _ in page.attributes} & {"src", "href", "xlink:href"}, set())
    return page
