public import JSON

/// A path on this machine, for settings. Shells complete it and expand `~`.
public struct PathValue: InputValue, OutputValue, Hashable {
    /// The path as it was given, relative or absolute.
    public var text: String

    /// Takes any text; `init(json:)` refuses an empty path and zero bytes.
    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .path(.any) }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard var text = json.string, !text.isEmpty else { throw ValueError("needs a path") }
        // The system would read it only up to the zero byte. Every path is read here, so the bytes are compared at once.
        guard !text.withUTF8({ unsafe $0.contains(0) }) else { throw ValueError("must not contain a zero byte") }
        self.init(text)
    }
}

/// What a path is used for.
public enum PathPurpose: Sendable, Hashable {
    /// A file whose content is read.
    case read
    /// A file that is made or changed.
    case write
    /// A folder in which tools work, with everything in it.
    case tree
    /// A path that is passed on by name, to SQLite or other programs, which follow links wherever they lead.
    case own
    /// Unspecified, as for text that is only passed on.
    case any
}

/// A path argument of an action. Its type states its purpose, and its text is private: the body must open the
/// `GrantedPath` that `ActionContext.path` returns, so that nothing outside the caller's rights is opened.
public struct GivenPath<Use: PathUse>: InputValue, OutputValue, Hashable {
    let text: String

    /// Takes any text; `init(json:)` refuses an empty path and zero bytes.
    public init(_ text: String) {
        self.text = text
    }

    @inlinable @inline(__always)
    public init(json: JSON) throws(ValueError) {
        self.init(try PathValue(json: json).text)
    }

    public static var schema: Schema { .path(Use.purpose) }
    public var json: JSON { .string(text) }
    /// For messages, and for actions that only display the name.
    public var shown: String { PlainText.escape(text) }
}

/// The path of a file that an action reads.
public typealias ReadPath = GivenPath<PathUses.Read>
/// The path of a file that an action creates or changes.
public typealias WritePath = GivenPath<PathUses.Write>
/// A path that only a person may give. Whatever opens it follows links wherever they lead, so bounds cannot be
/// enforced.
public typealias OwnPath = GivenPath<PathUses.Own>

extension GivenPath<PathUses.Read> {
    /// Whether the path is `-`, which some actions treat as standard input.
    public var isStandardInput: Bool { text == "-" }
}

/// The purpose of a `GivenPath`, as a type.
public protocol PathUse: Sendable {
    /// The purpose as a value, for the schema and the grant.
    static var purpose: PathPurpose { get }
}

/// The purposes that an action can declare for a path.
public enum PathUses {
    /// The file's content is read.
    public enum Read: PathUse {
        public static var purpose: PathPurpose { .read }
    }

    /// The file is created or changed.
    public enum Write: PathUse {
        public static var purpose: PathPurpose { .write }
    }

    /// The path is passed on by name.
    public enum Own: PathUse {
        public static var purpose: PathPurpose { .own }
    }
}

/// A server argument of an action: a host, `host:port`, or an address. `HTTPClient` decides whether the caller may
/// connect to it before it resolves the name, and again for each redirect.
public struct HostValue: InputValue, OutputValue, Hashable {
    /// The server as it was given.
    public let text: String

    /// Takes any text; `init(json:)` refuses an empty one.
    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .host }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs a host") }
        self.init(text)
    }
}

/// A program that an action runs, by name or path. Whether the caller may run it is decided before the action begins.
public struct ProgramName: InputValue, OutputValue, Hashable {
    /// The name or the path as it was given.
    public let text: String

    /// Takes any text; `init(json:)` refuses an empty one.
    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .program }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs the name of a program") }
        self.init(text)
    }
}
