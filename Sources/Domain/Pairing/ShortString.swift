/// The short authentication string, which two people compare in either form.
///
/// The two forms come from different bytes of one derivation. An intermediary cannot know it beforehand: the digits of
/// both sides are equal by chance once in 10^6, the words once in 2^24.
package struct ShortString: Hashable, Sendable {
    /// Six decimal digits, `042917`.
    package let digits: String
    /// Three words out of 256, to be spoken.
    package let words: [String]

    /// Bytes from which it is made.
    static let byteCount = 11

    /// - Parameter bytes: `byteCount` bytes, uniform.
    init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count == Self.byteCount, "a short string of another length")
        // 64 bits for 20: the digits are uniform except for one part in 2^44.
        var number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        var digits: [UInt8] = []
        for _ in 0..<6 {
            digits.insert(UInt8(ascii: "0") + UInt8(number % 10), at: 0)
            number /= 10
        }
        self.digits = String(decoding: digits, as: UTF8.self)
        words = bytes.dropFirst(8).map { String(WordList.words[Int($0)]) }
    }
}

extension ShortString: CustomStringConvertible {
    /// `042 917 amber donkey violin`
    package var description: String {
        "\(digits.prefix(3)) \(digits.suffix(3)) \(words.joined(separator: " "))"
    }
}

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
