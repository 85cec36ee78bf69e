import CLZMA
import Capabilities
import JSON
public import Registry
public import Settings

/// Computes checksums with liblzma, and offers them as a tool.
public struct PackerFeature: Feature {
    public static let manifest = Manifest(
        id: "packer", summary: "Checksums by liblzma", version: "1.0", provides: [.single((any ToolSource).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.uses(
            Library("liblzma") { unsafe lzma_version_string().map { unsafe String(cString: $0) } ?? "unknown" })
        registry.provide((any ToolSource).self, ChecksumTool() as any ToolSource)
        registry.add(
            Action("packer.crc", "Compute the CRC-32 of a text", .reads, .argument("text", "What to look at")) {
                _, text in
                String(checksum(text), radix: 16)
            }
            .instant())
    }
}

/// The checksum of a text, for models.
final class ChecksumTool: ToolSource {
    var name: String { "packer" }

    func tools() async -> [ToolDescription] {
        let input: JSON = ["type": "object", "properties": ["text": ["type": "string"]], "required": ["text"]]
        return [ToolDescription(name: "crc", summary: "Compute the CRC-32 of a text", input: input, effect: .reads)]
    }

    func run(_ call: ToolCall) async -> ToolResult {
        ToolResult(call: call.id, content: String(checksum(call.input["text"]?.string ?? ""), radix: 16))
    }
}

/// The CRC-32 of the UTF-8 bytes.
private func checksum(_ text: String) -> UInt32 {
    let bytes = Array(text.utf8)
    return unsafe bytes.withUnsafeBufferPointer { unsafe lzma_crc32($0.baseAddress, $0.count, 0) }
}
