/// The name under which a receiver is published: random, new for each record (security rule 14).
enum RandomInstance {
    static func name() -> String {
        let letters = Array("abcdefghjkmnpqrstvwxyz23456789")
        return String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }
}
