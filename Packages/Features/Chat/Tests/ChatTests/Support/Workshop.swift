import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// The capabilities that Chat gets from a host and other features: environment secrets, a settings file, and some tools.
struct Workshop: Feature {
    static let manifest = Manifest(
        id: "shop", summary: "Tools for tests", version: "1.0",
        provides: [.shared((any ToolSource).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any ToolSource).self, Bench() as any ToolSource)
        registry.add(Action("shop.price", "Reads, and is not for models", .reads) { _ in "12" })
        registry.add(Action("shop.sell", "Changes something", .writes) { _ in "sold" })
    }
}

struct OutOfOrder: Failure {
    var code: String { "shop.out-of-order" }
    var message: String { "the till is stuck" }
}

/// A source with tools that read, one that fails, one that changes something, and one that never ends.
private final class Bench: ToolSource {
    var name: String { "bench" }

    func tools() async throws -> [ToolDescription] {
        [
            ToolDescription(
                name: "shop.stock", summary: "How many there are",
                input: ["type": "object", "properties": ["thing": ["type": "string"]], "required": ["thing"]],
                effect: .reads),
            ToolDescription(name: "shop.broken", summary: "Fails", input: ["type": "object"], effect: .reads),
            ToolDescription(name: "saw", summary: "Saws", input: ["type": "object"], effect: .writes),
            ToolDescription(name: "dry", summary: "Takes forever", input: ["type": "object"], effect: .reads),
        ]
    }

    func run(_ call: ToolCall) async throws -> ToolResult {
        switch call.name {
        case "dry": try await Task.sleep(for: .seconds(3600))
        case "shop.broken": throw OutOfOrder()
        case "shop.stock":
            guard let thing = call.input["thing"]?.string else {
                return ToolResult(call: call.id, content: "thing is missing", isError: true)
            }
            return ToolResult(call: call.id, content: "7 \(thing)")
        default: break
        }
        return ToolResult(call: call.id, content: "sawed \(call.input["wood"]?.string ?? "something")")
    }
}
