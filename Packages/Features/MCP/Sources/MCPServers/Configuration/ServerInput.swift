public import Capabilities
import Cryptography
public import JSON
import Synchronization

/// Something that the person is asked for before a server starts. Texts of its entry refer to it as `${input:NAME}`.
public struct ServerInput: InputValue, OutputValue, Hashable {
    /// What is asked, in the words of the entry.
    public var prompt: String
    /// Whether the answer is a secret.
    public var isPassword = false
    /// The answer of an empty line.
    public var defaultValue: String?
    /// The only answers; nil for any text.
    public var options: [String]?

    /// A text that is no secret.
    public init(_ prompt: String) {
        self.prompt = prompt
    }

    public static let schema = Schema.record([
        .init("prompt", "What you are asked", .string),
        .init("password", "Whether the answer is a secret, which is kept in the vault", .optional(.boolean)),
        .init("default", "The answer of an empty line", .optional(.string)),
        .init("options", "The only answers", .optional(.array(.string))),
    ])

    public init(json: JSON) throws(ValueError) {
        if let problem = Self.schema.problems(in: json).first { throw problem }
        prompt = json["prompt"]?.string ?? ""
        isPassword = json["password"]?.bool ?? false
        defaultValue = json["default"]?.string
        options = json["options"]?.array?.compactMap(\.string)
        try check()
    }

    /// Reads an input as an editor writes it.
    init(foreign json: JSON) throws(ValueError) {
        let description = json["description"]?.string ?? json["id"]?.string ?? ""
        switch json["type"]?.string {
        case "promptString"?:
            prompt = description
            isPassword = json["password"]?.bool ?? false
        case "pickString"?:
            prompt = description
            options = (json["options"]?.array ?? []).compactMap { $0.string ?? $0["value"]?.string }
        case let type?:
            throw ValueError(
                "has the type \(PlainText.escape(type).quotedForMessage), which only its own program knows")
        case nil: throw ValueError("has no type")
        }
        defaultValue = json["default"]?.string
        try check()
    }

    private func check() throws(ValueError) {
        guard let options else { return }
        guard !options.isEmpty else { throw ValueError("needs an answer to choose", at: ["options"]) }
        if isPassword { throw ValueError("cannot be a password and have options", at: ["options"]) }
        if let defaultValue, !options.contains(defaultValue) {
            throw ValueError("is not one of the options", at: ["default"])
        }
    }

    public var json: JSON {
        var object: JSONObject = ["prompt": .string(prompt)]
        if isPassword { object["password"] = true }
        object["default"] = defaultValue.map { .string($0) }
        object["options"] = options?.json
        return .object(object)
    }

    /// The name under which the vault keeps the answer for a server.
    ///
    /// - Parameter key: stands for the server in the records, with its folder if it comes with a project.
    public static func secretName(_ name: String, of server: ConfiguredServer, key: String) -> SecretName {
        // Names in the vault are plain, so that a digest keeps those apart that look the same then.
        let words = [server.name, name].map { word in
            String(
                word.lowercased().unicodeScalars.prefix(40).map {
                    $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains(Character($0))
                        ? Character($0) : "-"
                })
        }
        let digest = Hexadecimal.encode(Digest.sha256(Array("\(key)\0\(name)".utf8))).prefix(8)
        return SecretName("mcp.\(words.joined(separator: ".")).\(digest)")
    }
}

/// The inputs that a file of an editor defines, of which its servers use some.
struct ForeignInputs {
    private var found: [String: Result<ServerInput, ValueError>] = [:]

    init(_ json: JSON?) {
        for input in json?.array ?? [] {
            guard let name = input["id"]?.string else { continue }
            do throws(ValueError) { found[name] = .success(try ServerInput(foreign: input)) } catch {
                found[name] = .failure(error)
            }
        }
    }

    /// The input that a text of an entry refers to.
    func input(_ name: String, in field: String) throws(ValueError) -> ServerInput {
        let words = "wants ${input:\(PlainText.escape(name))} in \(PlainText.escape(field)), which"
        switch found[name] {
        case .success(let input)?: return input
        case .failure(let error)?: throw ValueError("\(words) \(error.message)")
        case nil: throw ValueError("\(words) its file does not define")
        }
    }
}

/// The answers of the person for as long as the program runs, by servers and names.
public final class InputAnswers: Sendable {
    private let answers = Mutex([ConfiguredServer: [String: String]]())

    /// Nothing was asked yet.
    public init() {}

    /// The answer; nil if it is not known.
    public subscript(name: String, server: ConfiguredServer) -> String? {
        get { answers.withLock { $0[server]?[name] } }
        set { answers.withLock { $0[server, default: [:]][name] = newValue } }
    }
}
