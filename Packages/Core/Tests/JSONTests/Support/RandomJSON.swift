import CoreTesting
import JSON

/// Makes random values of every case, including awkward strings and numbers.
struct RandomJSON {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func value(depth: Int = 4) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
        case 0: .null
        case 1: .bool(generator.chance(50))
        case 2:
            .int(generator.pick([0, -1, 7, Int.max, Int.min, Int.random(in: -999_999...999_999, using: &generator)]))
        case 3: .double(double())
        case 4: .string(text())
        case 5:
            generator.chance(20) ? .big("-92233720368547758080\(Int.random(in: 0..<99, using: &generator))") : .int(1)
        case 6: .array((0..<count()).map { _ in value(depth: depth - 1) })
        default: .object(object(depth: depth - 1))
        }
    }

    mutating func object(depth: Int) -> JSONObject {
        var object = JSONObject()
        for _ in 0..<count() {
            let key = text()
            // Foundation treats two encodings of one letter as the same key and drops the first.
            if object.contains(where: { $0.0 == key }) { continue }
            object[key] = value(depth: depth)
        }
        return object
    }

    mutating func text() -> String {
        let pieces = [
            "a", "key", "\"", "\\", "/", "\n", "\u{1}", "é", "e\u{301}", "😀", "\u{2028}", "\u{FEFF}", "'", "//", "/*",
            "*/", ",", "}", "a longer piece of plain text", "\u{7F}", "日本語", "$_x", "\0",
        ]
        return (0..<Int.random(in: 0...4, using: &generator)).map { _ in generator.pick(pieces) }.joined()
    }

    private mutating func count() -> Int {
        generator.chance(4) ? 40 : Int.random(in: 0...4, using: &generator)
    }

    private mutating func double() -> Double {
        let edges = [
            0.0, -0.0, 0.1, 1e21, 1e22, 1e23, .leastNonzeroMagnitude, -1.7976931348623157e308, 2.2250738585072014e-308,
            1.0, 123456.789,
        ]
        if generator.chance(30) { return generator.pick(edges) }
        let value = Double(bitPattern: generator.next())
        return value.isFinite ? value : 0.5
    }
}
