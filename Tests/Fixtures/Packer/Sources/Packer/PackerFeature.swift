import CLZMA
import Capabilities
public import Registry
public import Settings

/// Computes checksums with liblzma, and is a model that answers with them.
public struct PackerFeature: Feature {
    public static let manifest = Manifest(
        id: "packer", summary: "Checksums by liblzma", version: "1.0", provides: [.single((any ModelProvider).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.uses(
            Library("liblzma") { unsafe lzma_version_string().map { unsafe String(cString: $0) } ?? "unknown" })
        registry.provide((any ModelProvider).self, ChecksumModel() as any ModelProvider)
        registry.add(
            Action("packer.crc", "Compute the CRC-32 of a text", .reads, .argument("text", "What to look at")) {
                _, text in
                String(checksum(text), radix: 16)
            }
            .instant())
    }
}

/// Answers with the checksum of what it is asked.
final class ChecksumModel: ModelProvider {
    var id: String { "packer" }
    var name: String { "Checksums" }

    func isAvailable() async -> Bool { true }
    func models() async -> [ModelDescription] { [ModelDescription(id: "crc", provider: id)] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let text = String(checksum(request.messages.last?.text ?? ""), radix: 16)
        try await receive([.text(text)])
        return ChatAnswer(start: ChatStart(model: "crc"), message: Message(.assistant, text), finish: .stop)
    }
}

/// The CRC-32 of the UTF-8 bytes.
private func checksum(_ text: String) -> UInt32 {
    let bytes = Array(text.utf8)
    return unsafe bytes.withUnsafeBufferPointer { unsafe lzma_crc32($0.baseAddress, $0.count, 0) }
}
