import Capabilities
import JSON
import ModelKit

/// Martlet's own format, version 1: everything that the history stores of a conversation.
extension Transcript {
    private static let version = 1

    var json: JSON {
        var object: JSONObject = ["martlet": "conversation", "version": .int(Self.version)]
        object.add("title", title)
        object.add("created", created)
        object.add("updated", updated)
        object.add("provider", setup.provider)
        object.add("model", setup.model)
        object.add("server", setup.server)
        object.add("deployment", setup.deployment)
        object.add("system", setup.system)
        var options = setup.options.object ?? [:]
        options[ConversationSetup.folderOption] = nil
        options[ConversationSetup.folderIdentityOption] = nil
        object["options"] = .object(options)
        object["tools"] = setup.tools
        object.add("head", head)
        object["messages"] = .array(items.map(\.json))
        object["calls"] = .array(calls.map(\.json))
        return .object(object)
    }

    init(json: JSON) throws(ValueError) {
        guard try json.member("martlet", as: String.self) == "conversation" else {
            throw ValueError("needs 'conversation'", at: ["martlet"])
        }
        guard try json.member("version", as: Int.self) == Self.version else {
            throw ValueError("is not supported; use a newer version of this program", at: ["version"])
        }
        let setup = ConversationSetup(
            provider: try json.optional("provider"), model: try json.optional("model"),
            server: try json.optional("server"), deployment: try json.optional("deployment"),
            system: try json.optional("system"),
            options: json["options"] ?? [:], tools: json["tools"] ?? [:])
        var count = 0
        let items: [Item] = try json.list("messages") { element throws(ValueError) in
            let item = try Item(json: element)
            if let parent = item.parent, !(0..<count).contains(parent) {
                throw ValueError("must be the index of an earlier message", at: ["parent"])
            }
            count += 1
            return item
        }
        let head: Int? = try json.optional("head")
        if let head, !items.indices.contains(head) { throw ValueError("must be the index of a message", at: ["head"]) }
        let calls: [CallEntry] = json["calls"] == nil ? [] : try json.list("calls", CallEntry.init(json:))
        self.init(
            title: try json.optional("title"), setup: setup, created: try json.optional("created"),
            updated: try json.optional("updated"), items: items, head: head ?? items.indices.last, calls: calls)
    }
}

extension Transcript.Item {
    var json: JSON {
        var object = JSONObject()
        object.add("parent", parent)
        object["role"] = message.role.json
        object["parts"] = message.parts.inlineJSON
        object["state"] = .string(StateWord(state).rawValue)
        if case .failed(let code, let message) = state {
            object["error"] = ["code": .string(code), "message": .string(message)]
        }
        object.add("provider", provider)
        object.add("model", model)
        object.add("time", time)
        object.add("start", start.map(EntryCoder.json))
        object.add("finish", finish?.word)
        object.add("usage", usage.map(EntryCoder.json))
        return .object(object)
    }

    init(json: JSON) throws(ValueError) {
        let parts = try json.list("parts", MessageCoding.inline.part)
        let word: StateWord = try json.optional("state") ?? .complete
        let problem = try json.optional("error") { (error) throws(ValueError) -> (code: String, message: String) in
            (try error.member("code"), try error.member("message"))
        }
        let finish: String? = try json.optional("finish")
        self.init(
            parent: try json.optional("parent"), Message(try json.member("role"), parts),
            state: word.state(code: problem?.code, message: problem?.message),
            provider: try json.optional("provider"), model: try json.optional("model"),
            time: try json.optional("time"), start: try json.optional("start", EntryCoder.start),
            finish: finish.map(ChatAnswer.Finish.init(word:)), usage: try json.optional("usage", EntryCoder.usage))
    }
}

extension CallEntry {
    var json: JSON {
        var object: JSONObject = ["call": MessageCoding.inline.json(call), "state": .string(state.rawValue)]
        object.add("source", source)
        object.add("effect", effect)
        object.add("decision", decision)
        object["result"] = result.flatMap { [Message.Part.result($0)].inlineJSON[0] }
        object.add("started", started)
        object.add("ended", ended)
        return .object(object)
    }

    init(json: JSON) throws(ValueError) {
        guard let call = try json.optional("call", MessageCoding.inline.call) else {
            throw ValueError("is missing", at: ["call"])
        }
        self.init(
            call, try json.member("state"),
            source: try json.optional("source"), effect: try json.optional("effect"),
            decision: try json.optional("decision"), result: try json.optional("result", MessageCoding.inline.result),
            started: try json.optional("started"), ended: try json.optional("ended"))
    }
}

extension [Message.Part] {
    /// All contents written inline, which cannot fail because nothing is stored elsewhere.
    var inlineJSON: JSON {
        do { return try MessageCoding.inline.json(self) } catch { return .array([]) }
    }
}
