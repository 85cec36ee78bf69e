import AuthTrust
import CoreTesting
import Testing

@Suite("Fingerprint parsing")
struct FingerprintTests {
    private static let bytes = [UInt8](0..<32)
    private static let plain = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    private static let colons = Fingerprint.text(bytes)

    @Test(
        "Every common format is parsed",
        arguments: [
            plain, plain.uppercased(), colons, colons.lowercased(), "sha256:\(plain)", "SHA256:\(plain)",
            "SHA-256:\(colons)", "sha256=\(plain)", "sha256 Fingerprint=\(colons)", "SHA256 Fingerprint=\(colons)",
            colons.split(separator: ":").joined(separator: " "), " \(plain) ",
        ])
    func good(text: String) {
        #expect(Fingerprint.bytes(text) == Self.bytes)
    }

    @Test(
        "Other lengths and letters are rejected",
        arguments: [
            "", "00", String(plain.dropLast()), String(plain.dropLast(2)), plain + "20", "g" + plain.dropFirst(),
            "sha1:\(plain)", "md5:00", plain + "\n", colons + ":20",
        ])
    func bad(text: String) {
        #expect(Fingerprint.bytes(text) == nil)
    }

    @Test("Parsing accepts the printed format")
    func roundTrip() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            #expect(Fingerprint.bytes(Fingerprint.text(bytes)) == bytes, "seed \(seed)")
        }
    }
}
