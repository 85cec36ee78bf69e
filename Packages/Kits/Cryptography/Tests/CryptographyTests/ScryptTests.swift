import Capabilities
import Cryptography
import Testing

@Suite("Scrypt")
struct ScryptTests {
    @Test(
        "Keys match the test vectors of RFC 7914",
        arguments: [
            (
                "", "", 16, 1, 1,
                "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                    + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
            ),
            (
                "password", "NaCl", 1024, 8, 16,
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                    + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", 16_384, 8, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                    + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
            ),
        ])
    func vectors(passphrase: String, salt: String, cost: Int, blockSize: Int, parallelism: Int, key: String) throws {
        let scrypt = try Scrypt(cost: cost, blockSize: blockSize, parallelism: parallelism)
        let made = try scrypt.derive(from: secret(Array(passphrase.utf8)), salt: Array(salt.utf8), count: 64)
        #expect(Hexadecimal.encode(array(made)) == key)
    }

    @Test(
        "Parameters out of bounds are refused before anything is computed",
        arguments: [
            (0, 8, 1), (1, 8, 1), (3, 8, 1), (-16, 8, 1), (1 << 21, 1, 1), (1 << 20, 8, 1), (1 << 40, 1, 1),
            (Int.max, 1, 1), (Int.min, 1, 1), (16, 0, 1), (16, -1, 1), (16, 33, 1), (16, Int.max, 1), (16, 8, 0),
            (16, 8, 17), (16, 8, Int.max), (1 << 18, 8, 16), (1 << 18, 16, 1),
        ])
    func bounds(cost: Int, blockSize: Int, parallelism: Int) {
        let error = #expect(throws: CryptographyError.self) {
            try Scrypt(cost: cost, blockSize: blockSize, parallelism: parallelism)
        }
        #expect(error?.kind == .parameters)
    }

    @Test("The library grants the maximum allowed memory")
    func largest() throws {
        let scrypt = try Scrypt(cost: 1 << 18, blockSize: 8, parallelism: 1)
        #expect(try scrypt.derive(from: secret([1]), salt: [2]).count == 32)
        #expect(Scrypt.standard.cost == 1 << 17)
    }

    @Test("A key length of zero or an absurd key length is refused", arguments: [-1, 0, 1025])
    func sizes(count: Int) throws {
        let scrypt = try Scrypt(cost: 16, blockSize: 1, parallelism: 1)
        #expect(throws: CryptographyError.self) { try scrypt.derive(from: secret([1]), salt: [2], count: count) }
    }
}
