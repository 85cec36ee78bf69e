import CLZMA
import Capabilities
public import Registry
public import Settings

/// Computes checksums with liblzma, and marks requests with them.
public struct PackerFeature: Feature {
    public static let manifest = Manifest(
        id: "packer", summary: "Checksums by liblzma", version: "1.0", provides: [.single((any Authenticator).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.uses(
            Library("liblzma") { unsafe lzma_version_string().map { unsafe String(cString: $0) } ?? "unknown" })
        registry.provide((any Authenticator).self, ChecksumAuthenticator() as any Authenticator)
        registry.add(
            Action("packer.crc", "Compute the CRC-32 of a text", .reads, .argument("text", "What to look at")) {
                _, text in
                String(checksum(text), radix: 16)
            }
            .instant())
    }
}

/// Marks a request with the checksum of its URL.
final class ChecksumAuthenticator: Authenticator {
    func sign(_ request: inout RequestHead, for server: ServerID) {
        request.headers.append(("X-Checksum", Secret(String(checksum(request.url), radix: 16))))
    }

    func renew(_ refused: RequestHead, for server: ServerID) -> Bool { false }
}

/// The CRC-32 of the UTF-8 bytes.
private func checksum(_ text: String) -> UInt32 {
    let bytes = Array(text.utf8)
    return unsafe bytes.withUnsafeBufferPointer { unsafe lzma_crc32($0.baseAddress, $0.count, 0) }
}
