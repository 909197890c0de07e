extension PeerID {
    /// Check digits at the end of `text`.
    static let checkCharacters = 4

    /// x²⁰ + x¹⁹ + x⁶ + x⁵ + x³ + 1 without its first term: the product of x + 1 and an irreducible polynomial of degree
    /// 19, whose period 2¹⁹ − 1 is far longer than an id.
    private static let polynomial: UInt32 = 0x80069

    /// A CRC of 20 bits over the 52 digits of an id, the most significant bit of each first, with all bits of the register
    /// set at the beginning: four digits more.
    ///
    /// They detect each wrong character among the 56, each exchange of two characters, and each flip of one, two, three
    /// or any odd number of bits; of all other mistakes one in a million goes unnoticed. They protect from mistakes,
    /// not from people: anyone can compute them.
    static func checkDigits(of digits: some Sequence<UInt8>) -> [UInt8] {
        var register: UInt32 = 0xFFFFF
        for digit in digits {
            for bit in stride(from: 4, through: 0, by: -1) {
                let isSet = (register >> 19) ^ (UInt32(digit) >> UInt32(bit)) & 1 == 1
                register = (register << 1) & 0xFFFFF
                if isSet { register ^= polynomial }
            }
        }
        return [15, 10, 5, 0].map { UInt8(register >> $0 & 31) }
    }
}
