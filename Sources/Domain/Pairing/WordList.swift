/// 256 words for speaking: one for each byte.
///
/// Each has four to eight letters. Any two differ in at least three letters, in their first four letters, and in the
/// order of their consonants. The alphabetical order is part of the protocol (Pairing, section 4).
enum WordList {
    static let words: [Substring] = text.split { $0 == " " || $0 == "\n" }

    private static let text = """
        acorn adobe agent album alpine amber anchor angle apron arctic artist atlas autumn avenue awning badge bagpipe
        baker balcony banjo barley beacon beetle berry bicycle biscuit blanket blossom bonfire bramble breeze bucket
        buffalo bundle butter cabin cactus camel canyon carrot castle cedar cello chestnut chimney circus clover
        cobalt coffee compass copper cotton cousin cradle cricket crystal cyclone dagger dahlia daisy delta denim
        desert diamond dinner doctor dolphin domino donkey dragon drawer drummer dune echo eclipse elbow elder
        elephant elevator emerald engine envelope equator evening fabric feather fennel fiddle figure flute football
        forest fossil fountain furnace galaxy garlic gazelle geyser giraffe glacier gondola gorilla granite grape
        guitar hamster harbor harvest helmet hickory hornet hospital hotel igloo indigo iris island ivory jaguar
        jasmine jersey jigsaw juniper kangaroo kitchen kiwi koala ladder lagoon lantern lasso lavender lemon leopard
        library lilac linen lizard lobster lotus lunch magician magnet marble meadow mercury meteor mirror mitten
        monarch mosaic muffin museum mushroom mustard napkin nectar nephew nickel noodle north nugget nutmeg oasis
        oatmeal ocean octave office olive onion opera orange orbit orchid osprey oval palace panther papaya pasture
        peacock pebble penguin piano pillow pirate polka popcorn potato pumpkin puzzle pyramid quartz quilt rabbit
        raccoon radish rainbow raven ribbon rubber ruby saffron salmon sandal sapphire saturn sausage scarlet scooter
        silver skate spider sponge stable sugar summit sunset swan tailor teapot temple tennis thistle thunder topaz
        tractor trombone trumpet tulip turtle tuxedo umbrella umpire unicorn urban vacuum village vinegar violin
        volcano voyage vulture waffle walnut weasel whale whisper widget windmill wolf wombat woodland zebra zodiac
        """
}
