/// Names for answers that nobody can guess or has seen before.
enum Identifier {
    static func make(_ prefix: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in
            let part = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }
        return prefix + digits.joined()
    }
}
