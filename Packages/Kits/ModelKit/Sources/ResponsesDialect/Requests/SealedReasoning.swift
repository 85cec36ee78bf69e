import Capabilities
import JSON
import ModelKit

/// The thoughts of a model as they have to be sent back: the whole item, with what only the provider can read.
/// `Reasoning.sealed` holds it as JSON.
enum SealedReasoning {
    /// Nil for an item that could not be sent back, as nothing is kept at the server.
    static func seal(_ item: JSONObject) -> String? {
        guard item["encrypted_content"]?.filled != nil else { return nil }
        var item = item
        // The server says how far it is, and takes no word about it.
        item["status"] = nil
        return JSON.object(item).text()
    }

    /// Nil for thoughts that are another provider's.
    static func item(_ reasoning: Reasoning) -> JSON? {
        guard let sealed = reasoning.sealed, let item = try? JSON(parsing: sealed, reading: .stream),
            item["type"] == "reasoning"
        else { return nil }
        return item
    }
}
