#!/usr/bin/env python3
"""browser.py chromium|firefox FOLDER [LANGUAGE [ARGUMENT…]]: a browser that a test drives.

Each line of the input is an order, `{"do":"click","with":["#send"]}`: a method of the browser and its arguments. Each
order has one line as its answer, in the same order: `{"value":…}`, or `{"fault":"…"}` if it failed.
The first line, `{"value":"ready"}`, comes by itself. The browser ends with the input.
"""

import json
import os
import sys

from chromium import Chromium
from firefox import Firefox
from page import Fault

BROWSERS = {"chromium": Chromium, "firefox": Firefox}


def answer(value):
    print(json.dumps(value), flush=True)


def main(kind, folder, language="en", *arguments):
    os.makedirs(os.path.join(folder, "downloads"))
    browser = BROWSERS[kind](folder, language, arguments)
    try:
        answer({"value": "ready"})
        for line in sys.stdin:
            order = json.loads(line)
            try:
                answer({"value": getattr(browser, order["do"])(*order["with"])})
            except Fault as fault:
                answer({"fault": str(fault)})
    finally:
        browser.close()


main(*sys.argv[1:])
