#!/usr/bin/env python3
"""Makes vega.js again: Vega, Vega-Lite and Vega-Embed as one plain script without a network.

Needs `pip install vl-convert-python==1.9.0.post1`, the Vega project's own converter, whose wheel
carries Vega 6.2.0, Vega-Lite 6.4 and Vega-Embed 7.0.2. Users of Fathom need none of this.
"""

import pathlib

import vl_convert

BUNDLE = "window.vegaEmbed=vegaEmbed;window.vega=vega;window.vegaLite=vegaLite;"
script = vl_convert.javascript_bundle(BUNDLE, vl_version="6.4")
out = pathlib.Path(__file__).with_name("vega.js")
out.write_text("(()=>{\n" + script + "\n})();\n")
