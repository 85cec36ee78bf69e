import CoreTesting
import JSON
import Packer
import Testing

@Test("gives the check value of CRC-32")
func computesCheckValue() async throws {
    let host = try TestHost([PackerFeature.self])
    #expect(try await host.perform("packer.crc", ["text": "123456789"]) == "cbf43926")
}
