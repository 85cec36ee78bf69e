import Capabilities
import JSON
import Registry

/// The address of a resource: `martlet://conversations/01a2`, `martlet://screens/chat.list?limit=5`.
enum ResourceAddress: Sendable, Hashable {
    case conversation(String)
    /// A screen by its id, with its arguments as they are written.
    case screen(String, [Argument])

    /// A written argument.
    struct Argument: Sendable, Hashable {
        let name, word: String
    }

    private static let scheme = "martlet://"
    private static let conversations = scheme + "conversations/"
    private static let screens = scheme + "screens/"
    static let conversationVariable = "conversation"
    static let conversationTemplate = conversations + "{\(conversationVariable)}"

    /// Nil for an address that is none of ours.
    init?(_ text: String) {
        if text.hasPrefix(Self.conversations) {
            let id = text.dropFirst(Self.conversations.count)
            guard !id.isEmpty, !id.contains("/"), let id = PercentEncoding.decode(id) else { return nil }
            self = .conversation(id)
        } else if text.hasPrefix(Self.screens) {
            let rest = text.dropFirst(Self.screens.count)
            let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard let id = parts.first, !id.isEmpty, !id.contains("/") else { return nil }
            var arguments: [Argument] = []
            for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let name = sides.first.flatMap({ PercentEncoding.decode($0) }),
                    let word = PercentEncoding.decode(sides.dropFirst().first ?? "")
                else { return nil }
                arguments.append(Argument(name: name, word: word))
            }
            self = .screen(String(id), arguments)
        } else {
            return nil
        }
    }

    static func text(ofConversation id: String) -> String { conversations + PercentEncoding.encode(id) }
    static func text(ofScreen id: String) -> String { screens + id }

    /// The template of a screen with parameters (RFC 6570).
    static func template(ofScreen id: String, _ names: [String]) -> String {
        "\(screens)\(id){?\(names.joined(separator: ","))}"
    }
}

extension Screen {
    /// The arguments that an address has, by the types of the parameters. A list is given by its name again and again.
    ///
    /// - Throws: `ArgumentsFailure`.
    func arguments(_ given: [ResourceAddress.Argument]) throws(ArgumentsFailure) -> JSONObject {
        var arguments: JSONObject = [:]
        var problems: [ValueError] = []
        for argument in given {
            // One that is unknown is told by the check of the arguments.
            let schema = parameters.first { $0.name == argument.name }?.schema ?? .string
            do throws(ValueError) {
                if let element = schema.element {
                    let before = arguments[argument.name]?.array ?? []
                    arguments[argument.name] = .array(before + [try element.json(fromWord: argument.word)])
                } else {
                    arguments[argument.name] = try schema.json(fromWord: argument.word)
                }
            } catch {
                problems.append(error.under(argument.name))
            }
        }
        guard problems.isEmpty else { throw ArgumentsFailure(action: id, problems: problems) }
        return arguments
    }
}
