import CoreTesting
import JSON
import Testing

@Suite("Decimal numbers")
struct DecimalTests {
    @Test("A decimal number is the nearest double, as in the standard library", .timeLimit(.minutes(5)))
    func nearest() throws {
        let seed = SeededGenerator.seed(for: "nearest double")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let digits = String(generator.next()).prefix(Int.random(in: 1...20, using: &generator))
            let scale = Int.random(in: generator.chance(80) ? -30...30 : -340...270, using: &generator)
            let point = Int.random(in: 0...digits.count, using: &generator)
            let whole = digits.prefix(point).drop { $0 == "0" }
            let fraction = digits.dropFirst(point)
            let text = "\(whole.isEmpty ? "0" : whole).\(fraction.isEmpty ? "0" : fraction)e\(scale)"
            let expected = try #require(Double(text))
            #expect(try JSON(parsing: text).double?.bitPattern == expected.bitPattern, "\(text), seed \(seed)")
        }
    }

    @Test(
        "A number halfway between two doubles is rounded to even",
        arguments: [
            "9007199254740993.0", "9007199254740995.0", "9007199254740992.5", "90071992547409930e-1", "0.5e-1",
            "9007199254740993e0", "4503599627370496.5", "4503599627370497.5", "1.00000000000000011102230246251565",
            "1.0000000000000001110223024625156", "18446744073709551615e0", "9999999999999999999e27", "1e23", "8.5e22",
            "1e-27", "9223372036854775807e-27", "5e-324", "2.4703282292062327e-324", "1.7976931348623157e308",
            "0.000000000000000000000000000000", "0e999999999999", "1e-999999999999", "1e0000000000000000000001",
        ])
    func halves(text: String) throws {
        let expected = try #require(Double(text))
        #expect(try JSON(parsing: text).double?.bitPattern == expected.bitPattern)
        #expect(try JSON(parsing: "-" + text).double?.bitPattern == (-expected).bitPattern)
        #expect(try JSON(parsing: text, reading: .json5).double?.bitPattern == expected.bitPattern)
    }
}
