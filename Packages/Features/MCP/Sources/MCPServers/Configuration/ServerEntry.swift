public import Capabilities
public import JSON

/// How one server is started or reached, as a settings file says it. Variables in its texts are not filled in yet.
public struct ServerEntry: InputValue, OutputValue, Hashable {
    /// How messages get to the server.
    public enum Way: Sendable, Hashable {
        /// A program of this machine, with its arguments.
        case program(String, [String])
        /// An address, in whatever way of HTTP the server knows.
        case address(String)
    }

    /// How messages get to the server.
    public var way: Way
    /// Variables of the program besides the few that every program gets.
    public var environment: [String: String] = [:]
    /// The folder that the program starts in; nil for the folder of the project.
    public var folder: String?
    /// What each request carries.
    public var headers: [String: String] = [:]
    /// Whether it is used at all.
    public var isEnabled = true
    /// Whether a turn waits for it, and a run without a person fails without it.
    public var isRequired = false
    /// The only tools that are offered; nil for all.
    public var tools: [String]?
    /// How long it may take to start; nil for the usual limit.
    public var startLimit: Duration?
    /// How long a call may take without a sign of progress; nil for the usual limit.
    public var callLimit: Duration?
    /// The command that installs it; nil if nobody says.
    public var install: [String]?

    /// What the person is asked for before it starts, by the names that texts refer to.
    public var inputs: [String: ServerInput] = [:]

    /// A server with the usual limits.
    public init(_ way: Way) {
        self.way = way
    }

    public static let schema = Schema.record([
        .init("command", "Program to start", .optional(.string)),
        .init("args", "Arguments of the program", .optional(.array(.string))),
        .init(
            "env", "Variables of the program; ${NAME}, ${NAME:-default} and ${secret:NAME} are filled in",
            .optional(.map(.string))),
        .init("cwd", "Folder that the program starts in; by default that of the project", .optional(.string)),
        .init("url", "Address of a server that is reached by HTTP", .optional(.string)),
        .init("headers", "Headers of each request; variables are filled in", .optional(.map(.string))),
        .init("enabled", "Whether it is used", .optional(.boolean)),
        .init("required", "Whether turns wait for it and fail without it", .optional(.boolean)),
        .init("tools", "The only tools that are offered; all by default", .optional(.array(.string))),
        .init("start-limit", "How long it may take to start", .optional(.duration)),
        .init("call-limit", "How long a call may take without progress", .optional(.duration)),
        .init(
            "inputs", "What you are asked for before it starts, by name; ${input:NAME} is filled in",
            .optional(.map(ServerInput.schema))),
        .init("install", "Command that installs the program, as a list of words", .optional(.array(.string))),
    ])

    public init(json: JSON) throws(ValueError) {
        if let problem = Self.schema.problems(in: json).first { throw problem }
        func member<Value: InputValue>(_ name: String, _ type: Value.Type) throws(ValueError) -> Value? {
            guard let value = json[name]?.unlessNull else { return nil }
            do { return try Value(json: value) } catch { throw error.under(name) }
        }
        switch (try member("command", String.self), try member("url", String.self)) {
        case (let command?, nil) where !command.isEmpty:
            way = .program(command, try member("args", [String].self) ?? [])
        case (nil, let url?) where url.contains("://"): way = .address(url)
        case (nil, .some): throw ValueError("needs an address such as https://tools.example/mcp", at: ["url"])
        case (.some, .some): throw ValueError("has both a command and a url; it needs one of them")
        default: throw ValueError("needs a command to start, or the url of a server")
        }
        environment = try member("env", [String: String].self) ?? [:]
        folder = try member("cwd", String.self)
        headers = try member("headers", [String: String].self) ?? [:]
        isEnabled = try member("enabled", Bool.self) ?? true
        isRequired = try member("required", Bool.self) ?? false
        tools = try member("tools", [String].self)
        startLimit = try member("start-limit", Duration.self)
        callLimit = try member("call-limit", Duration.self)
        install = try member("install", [String].self)
        inputs = try member("inputs", [String: ServerInput].self) ?? [:]
        for (field, name) in wantedInputs where inputs[name] == nil {
            throw ValueError(
                "wants ${input:\(PlainText.escape(name))} in \(PlainText.escape(field)), which its inputs do not have")
        }
        if let install {
            guard isProgram else { throw ValueError("is for a server that is a program", at: ["install"]) }
            guard install.first?.isEmpty == false else {
                throw ValueError("needs the words of a command, the program first", at: ["install"])
            }
        }
        if let name = environment.keys.first(where: { $0.isEmpty || $0.contains("=") || $0.contains("\0") }) {
            throw ValueError("has the malformed variable \(PlainText.escape(name).quotedForMessage)", at: ["env"])
        }
    }

    public var json: JSON {
        var object: JSONObject = [:]
        switch way {
        case .program(let command, let arguments):
            object["command"] = .string(command)
            if !arguments.isEmpty { object["args"] = arguments.json }
        case .address(let url): object["url"] = .string(url)
        }
        if !environment.isEmpty { object["env"] = environment.json }
        object["cwd"] = folder.map { .string($0) }
        if !headers.isEmpty { object["headers"] = headers.json }
        if !isEnabled { object["enabled"] = false }
        if isRequired { object["required"] = true }
        object["tools"] = tools?.json
        object["start-limit"] = startLimit?.json
        object["call-limit"] = callLimit?.json
        object["install"] = install?.json
        if !inputs.isEmpty { object["inputs"] = inputs.json }
        return .object(object)
    }

    /// Whether it is a program of this machine.
    public var isProgram: Bool { if case .program = way { true } else { false } }
}

/// All servers of one settings layer, by name.
public typealias ServerEntries = [String: ServerEntry]

/// The names of servers. Models, rules and commands use them, so that they are short and plain.
public enum ServerName {
    /// Why this cannot be the name of a server; nil if it can.
    public static func problem(_ name: String) -> String? {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isPlain, (1...40).contains(name.utf8.count), !name.hasPrefix("-") else {
            return
                "\(PlainText.escape(name).quotedForMessage) cannot be the name of a server; use up to 40 letters, digits, '-', '_' and '.'"
        }
        if Self.taken.contains(name) { return "\(name.quotedForMessage) is the name of tools of this program" }
        return nil
    }

    /// The sources of tools that are part of the program, whose rules would otherwise be those of a server.
    private static let taken = ["files", "martlet", "conversation"]

    /// A name for a server that another program called so.
    public static func plain(_ name: String) -> String {
        let mapped = String(
            name.unicodeScalars.prefix(40).map { scalar -> Character in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || ("0"..."9").contains(Character(scalar))
                        || "-_.".unicodeScalars.contains(scalar))
                    ? Character(scalar) : "-"
            })
        let trimmed = String(mapped.drop { $0 == "-" })
        if trimmed.isEmpty { return "server" }
        return problem(trimmed) == nil ? trimmed : "mcp-\(trimmed)"
    }
}
