import Capabilities
import JSON
import Registry

/// One way to perform an action.
struct Trial {
    /// The parameter that has the canary.
    let parameter: String
    /// In what form it has it.
    let form: String
    let arguments: JSONObject
}

/// What nobody but the person may reach: a folder, a port, a name and a secret.
struct Canary {
    /// The secret's name, and what a name in the network begins with.
    static let label = "canary-reach"
    /// A link from where the program runs to the folder.
    static let link = "link-to-canary"

    let folder: String
    let port: Int
    let allowed: Int
    let name: String
    let word: String

    /// What reaches the folder, the port, a name and the secret for sure, where it may.
    var control: [(String, JSONObject)] {
        [
            ("file.read", ["path": .string("\(folder)/secret.txt")]),
            ("file.read", ["path": .string("\(Self.link)/secret.txt")]),
            ("run.start", ["bundle": .string("\(folder)/bundle.yaml"), "check": true]),
            ("access.show", ["as": .string("bundle:\(folder)/bundle.yaml")]),
            ("http.request", ["url": .string("http://127.0.0.1:\(port)/")]),
            ("gateway.status", ["address": .string("http://127.0.0.1:\(port)")]),
            ("http.request", ["url": .string("http://\(name):\(port)/")]),
            ("auth.secret.get", ["name": .string(Self.label)]),
        ]
    }

    /// The action with as little as it takes, and with a canary in each form in each parameter that takes a text.
    func trials(of action: Action) -> [Trial] {
        let least = arguments(of: action)
        var trials = [Trial(parameter: "none", form: "least", arguments: least)]
        for parameter in action.parameters where !Self.takesNoText(parameter.schema) {
            for (form, text) in forms(for: parameter.schema) {
                var arguments = least
                arguments[parameter.name] = wrapped(.string(text), as: parameter.schema)
                trials.append(Trial(parameter: parameter.name, form: form, arguments: arguments))
            }
        }
        return trials
    }

    /// Whether none of its values is free text.
    static func takesNoText(_ schema: Schema) -> Bool {
        switch schema {
        case .boolean, .integer, .number, .choice, .duration, .size, .time: true
        case .any, .string, .path, .url, .host, .secret, .secretName, .program: false
        case .array(let inner), .map(let inner), .optional(let inner): takesNoText(inner)
        case .record(let properties): properties.allSatisfy { takesNoText($0.schema) }
        }
    }

    /// What is a value of a secret names no file and no server.
    private func forms(for schema: Schema) -> [(String, String)] {
        schema.unwrapped == .secret ? secrets : paths + hosts + secrets
    }

    private var paths: [(String, String)] {
        let name = folder.split(separator: "/").last ?? ""
        return [
            ("folder", folder), ("file", "\(folder)/secret.txt"), ("new-file", "\(folder)/new.txt"),
            ("bundle", "\(folder)/bundle.yaml"), ("relative", "../\(name)/secret.txt"),
            ("link", "\(Self.link)/secret.txt"), ("link-folder", Self.link),
            ("process", "/proc/self/root\(folder)/secret.txt"),
            ("file-address", "file://\(folder)/secret.txt"), ("at", "@\(folder)/secret.txt"),
            ("of-bundle", "bundle:\(folder)/bundle.yaml"),
        ]
    }

    private var hosts: [(String, String)] {
        [
            ("server", "127.0.0.1:\(port)"), ("address", "http://127.0.0.1:\(port)/"), ("number", "2130706433:\(port)"),
            ("six", "http://[::ffff:127.0.0.1]:\(port)/"), ("user", "http://127.0.0.1:\(allowed)@127.0.0.1:\(port)/"),
            ("here", "http://localhost:\(port)/"), ("name", "\(Self.label).invalid"),
            ("name-address", "http://\(Self.label).invalid:\(port)/"),
        ]
    }

    private var secrets: [(String, String)] {
        [
            ("secret", Self.label), ("variable", "CANARY_REACH_API_KEY"), ("env", "env:CANARY_REACH_API_KEY"),
            ("expression", "${{ env.CANARY_REACH_API_KEY }}"),
        ]
    }

    /// What actions need to go on besides what their declarations say.
    private static let needed: [String: JSONObject] = [
        "chat.rename": ["title": ["word"]], "chat.search": ["words": ["word"]], "chat.send": ["message": "Hello"],
        "config.get": ["key": "chat.model"], "config.set": ["key": "chat.model"], "config.unset": ["key": "chat.model"],
    ]

    private func arguments(of action: Action) -> JSONObject {
        var arguments = Self.needed[action.id] ?? [:]
        for parameter in action.parameters where parameter.isRequired && arguments[parameter.name] == nil {
            arguments[parameter.name] = example(of: parameter.schema)
        }
        return arguments
    }

    /// A value that the wide bundle may use, so that the other parameters of the action come to their turn.
    private func example(of schema: Schema) -> JSON {
        switch schema {
        case .boolean: false
        case .integer(let range): .int(range?.lowerBound ?? 1)
        case .number(let range): .double(range?.lowerBound ?? 1)
        case .choice(let words): .string(words[0])
        case .path: "inside.txt"
        case .url, .host: .string("http://127.0.0.1:\(allowed)/")
        case .duration: "1s"
        case .size(let range): .int(range?.lowerBound ?? 1)
        case .time: "2026-01-01T00:00:00Z"
        case .secretName: "other"
        case .program: "true"
        case .array(let inner): [example(of: inner)]
        case .map, .record: [:]
        case .optional(let inner): example(of: inner)
        case .any, .string, .secret: "word"
        }
    }

    private func wrapped(_ value: JSON, as schema: Schema) -> JSON {
        switch schema {
        case .array(let inner): return [wrapped(value, as: inner)]
        case .optional(let inner): return wrapped(value, as: inner)
        case .map(let inner): return ["name": wrapped(value, as: inner)]
        case .record(let properties):
            var record = JSONObject()
            for property in properties where !Self.takesNoText(property.schema) {
                record[property.name] = wrapped(value, as: property.schema)
            }
            return .object(record)
        default: return value
        }
    }
}
