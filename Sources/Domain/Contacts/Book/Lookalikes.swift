/// Characters that look like a Latin letter at a glance: from Unicode's list of confusables (UTS 39) for lower-case
/// letters, and digits that stand for letters.
enum Lookalikes {
    /// The lower-case Latin letter that a folded scalar looks like; the scalar itself if it looks like none.
    static func letter(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if let letter = letters[scalar] { return letter }
        if let letter = enclosed(scalar) { return letters[letter] ?? letter }
        // Digits of other scripts.
        if scalar.value > 0x7F, scalar.properties.generalCategory == .decimalNumber,
            let value = scalar.properties.numericValue,
            let digit = Unicode.Scalar(UInt32(UInt8(ascii: "0")) + UInt32(value))
        {
            return letters[digit] ?? digit
        }
        return scalar
    }

    /// White letters on black and regional indicators: they have no compatibility form.
    private static func enclosed(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        for first: UInt32 in [0x1F150, 0x1F170, 0x1F1E6] where (first..<first + 26).contains(scalar.value) {
            return Unicode.Scalar(UInt32(UInt8(ascii: "a")) + scalar.value - first)
        }
        return nil
    }

    /// Each row lists the characters that look like its first one. Capital letters are folded to lower case like names.
    private static let rows = [
        "a а α ɑ ᴀ Ꭺ ꓮ Ⲁ 4 @ ա",
        "b в β ь ъ ʙ Ᏼ ꓐ Ⲃ 8 6 ƅ ხ Ƀ",
        "c с ϲ ᴄ Ꮯ ꓚ Ⲥ ¢ ©",
        "d ԁ đ ᴅ Ꭰ ꓓ ժ ɖ",
        "e е ε є э з ᴇ Ꭼ ꓰ Ⲉ 3 € ե է ə ɛ ℮",
        "f ғ ꜰ ꓝ ք ƒ",
        "g ɡ ԍ ɢ Ꮐ ꓖ ց 9",
        "h һ н ʜ Ꮋ Ꮒ ꓧ Ⲏ հ ի ħ",
        "j ј ϳ ᴊ Ꭻ ꓙ յ",
        "k к κ ᴋ Ꮶ ꓗ Ⲕ",
        "l i ı і ӏ ι ℓ ł ɪ ʟ Ꮮ Ꭵ ꓲ ꓡ Ⲓ ׀ ן ا 1 | ! լ ւ ɩ ї",
        "m м ᴍ Ꮇ ꓟ Ⲙ ʍ",
        "n п η и ո ռ ղ ɴ ꓠ Ⲛ ŋ ɲ ƞ Ꮑ Ꭾ ח й",
        "o о ο օ ø ᴏ ꓳ Ⲟ Ꮎ Ꭴ ഠ ס ه ๐ θ ө ɵ σ 0 ○ ٥ ۵ ჿ ଠ ဝ",
        "p р ρ ᴘ Ꮲ ꓑ Ⲣ þ",
        "q ԛ զ գ ϙ Ԛ",
        "r г ʀ Ꭱ Ꮢ ꓣ я ɾ ᴦ",
        "s ѕ ꜱ Ꮪ ꓢ 5 $ ʂ ѕ",
        "t т τ ᴛ Ꭲ ꓔ Ⲧ 7 ŧ",
        "u υ ս ц ᴜ ꓴ ʋ",
        "v ѵ ν ᴠ Ꮩ Ꮙ ꓦ ѷ ע",
        "w ԝ ш щ ω ᴡ Ꮃ Ꮤ ꓪ ա ɯ ѡ",
        "x х χ ꓫ Ⲭ ×",
        "y у ү γ ʏ Ꭹ Ꮍ ꓬ Ⲩ ყ ў ұ",
        "z ᴢ Ꮓ ꓜ 2 ʐ ʒ",
    ]

    private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
        var letters: [Unicode.Scalar: Unicode.Scalar] = [:]
        for row in rows {
            let signs = row.split(separator: " ").map { $0.lowercased().unicodeScalars.first ?? " " }
            for sign in signs.dropFirst() where letters[sign] == nil { letters[sign] = signs[0] }
        }
        return letters
    }()
}
