"""Files that people send each other: pictures of landscapes, texts, a plan. Nothing in them is anybody's."""

import os
import subprocess
import zipfile

# Sky above and below, sun, far hills, near hills.
LANDSCAPES = {
    "Coast at dusk.jpg": ("#27476e-#f6b26b", "#ffe9b8", "#8a5a6a", "#3c3450"),
    "Dunes.jpg": ("#6fb1d6-#f4e4c1", "#fffbe8", "#dcb47a", "#b98a4e"),
    "Lighthouse bay.jpg": ("#3a86a8-#d7eef2", "#ffffff", "#5f94a0", "#2f6b63"),
    "Morning mist.jpg": ("#b7c9d3-#f3ead8", "#fff6d8", "#9db3b4", "#6d8f84"),
    "Vineyard.jpg": ("#5aa0d8-#e8f3d9", "#fff3b0", "#93b46a", "#5d8a3a"),
    "Winter field.png": ("#8fa9c9-#f1f4f8", "#fff8e6", "#c9d6e3", "#eef3f7"),
    "Fjord.jpg": ("#2f6690-#cfe3ef", "#fffdf0", "#3f6f7f", "#1f4d5a"),
    "Heath.jpg": ("#6a7fb5-#f3d9c9", "#fff0cc", "#a1729a", "#6f4d7a"),
}
TEXTS = {
    "Apple cake.md": "# Apple cake\n\n- 4 apples, thinly sliced\n- 200 g flour\n- 150 g sugar\n- 3 eggs\n- 100 g butter\n\n"
    "Beat the eggs with the sugar, fold in flour and butter.\nBake for 45 minutes at 180 °C.\n",
    "Shelves.csv": "board,length,width\ntop,92 cm,28 cm\nmiddle,92 cm,28 cm\nbottom,92 cm,30 cm\nside,180 cm,30 cm\n",
    "Minutes of Tuesday.txt": "The gate gets a new lock. The key is with the neighbours.\nThe hedge is cut in February.\n",
    # Its name lies.
    "Invitation.jpg": "#!/bin/sh\nxdg-open https://example.net/\n",
}


def landscape(path, sky, sun, far, near):
    hills = ["-fill", far, "-draw", "path 'M0,780 C260,640 420,700 620,740 S1000,560 1240,680 S1500,700 1600,640 L1600,1200 L0,1200 Z'"]
    front = ["-fill", near, "-draw", "path 'M0,980 C300,820 520,960 820,940 S1300,860 1600,960 L1600,1200 L0,1200 Z'"]
    subprocess.run(["convert", "-size", "1600x1200", f"gradient:{sky}", "-fill", sun, "-draw", "circle 1120,470 1120,560",
                    *hills, *front, "-quality", "88", path], check=True)


def pdf(*lines):
    """A page with some lines; readers find its objects without a table."""
    text = " ".join(f"({line}) Tj 0 -64 Td" for line in lines)
    content = f"0.1 0.37 0.48 rg 40 300 515 12 re 40 560 515 12 re f BT /F 36 Tf 60 500 Td {text} ET"
    return (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F<</Type/Font"
        "/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
        f"4 0 obj<</Length {len(content)}>>stream\n{content}\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")


def make(folder):
    """Makes all files in a folder, and returns the function that gives the path of one."""
    os.makedirs(f"{folder}/Garden plan/beds")
    for name, colours in LANDSCAPES.items():
        landscape(f"{folder}/{name}", *colours)
    for name, text in TEXTS.items():
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    with open(f"{folder}/Tickets.pdf", "w") as file:
        file.write(pdf("Harbour cruise", "Two tickets", "Deck B, 14:30"))
    for name in ["north", "south"]:
        landscape(f"{folder}/Garden plan/beds/{name}.jpg", *LANDSCAPES["Vineyard.jpg"])
    with open(f"{folder}/Garden plan/seeds.txt", "w") as file:
        file.write("peas, beans, marigold\n")
    with zipfile.ZipFile(f"{folder}/Letters.zip", "w") as archive:
        for name in ["Minutes of Tuesday.txt", "Apple cake.md"]:
            archive.write(f"{folder}/{name}", name)
    # A film by its first bytes; nobody plays it.
    with open(f"{folder}/Harbour walk.mp4", "wb") as file:
        file.write(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\x08mdat" + os.urandom(48_000_000))
    with open(f"{folder}/Choir practice.flac", "wb") as file:
        file.write(b"fLaC\0\0\0\x22" + os.urandom(9_000_000))
    return lambda name: f"{folder}/{name}"
