import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("ByteCount")
struct ByteCountTests {
    @Test(
        "Sizes are read with decimal and binary units",
        arguments: [
            ("0", 0), ("4096", 4096), ("12B", 12), ("1kB", 1000), ("10MB", 10_000_000), ("2GB", 2_000_000_000),
            ("1TB", 1_000_000_000_000), ("64KiB", 65_536), ("1MiB", 1_048_576), ("3gib", 3_221_225_472),
            ("1TiB", 1_099_511_627_776), ("64k", 65_536), ("1M", 1_048_576), ("1G", 1_073_741_824),
            ("1T", 1_099_511_627_776), ("1.5 KiB", 1536),
        ])
    func reading(words: String, bytes: Int) {
        #expect(ByteCount(words: words) == ByteCount(bytes))
    }

    @Test(
        "Text that is not a size is refused",
        arguments: ["", "B", "-1", "1 parsec", "1.2.3", "0x10", "9e30", "9999999T", "٣"])
    func refusing(words: String) {
        #expect(ByteCount(words: words) == nil)
    }

    @Test(
        "Sizes are formatted for people",
        arguments: [
            (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (65_536, "64.0 KiB"),
            (1_610_612_736, "1.5 GiB"), (1_099_511_627_776, "1.0 TiB"), (1_048_575, "1.0 MiB"),
        ])
    func writing(bytes: Int, expected: String) {
        #expect(ByteCount(bytes).words == expected)
    }

    @Test("Formatting and reading a size loses less than the last digit shown", arguments: seeds)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let bytes = Int.random(in: 0..<(1 << Int.random(in: 1...50, using: &generator)), using: &generator)
            let again = try #require(ByteCount(words: ByteCount(bytes).words)).bytes
            try #require(abs(again - bytes) <= bytes / 20 + 1, "\(bytes) became \(again)")
            try #require(ByteCount(words: String(bytes))?.bytes == bytes)
        }
    }

    @Test("Sizes in JSON are whole numbers or words")
    func json() throws {
        #expect(ByteCount(10).json == 10)
        #expect(try ByteCount(json: 10) == ByteCount(10))
        #expect(try ByteCount(json: "1KiB") == ByteCount(1024))
        #expect(ByteCount(1) < ByteCount(2))
    }

    @Test("JSON that is not a size is refused", arguments: [-1, 1.5, "big", true, nil] as [JSON])
    func refusedJSON(json: JSON) {
        #expect(
            thrownMessage { () throws(ValueError) in try ByteCount(json: json) }
                == "needs a size such as 4096, 64KiB or 10MB")
        #expect(!Schema.size(nil).problems(in: json).isEmpty)
    }
}
