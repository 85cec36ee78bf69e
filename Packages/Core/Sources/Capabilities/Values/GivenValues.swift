public import JSON

/// A path on this machine, as a setting: shells complete it, and `~` is the shell's business.
public struct PathValue: InputValue, OutputValue, Hashable {
    public var text: String

    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .path(.any) }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs a path") }
        // The system would read it only up to there.
        guard !text.utf8.contains(0) else { throw ValueError("cannot hold a zero byte") }
        self.init(text)
    }
}

/// What a path is wanted for.
public enum PathPurpose: Sendable, Hashable {
    /// A file whose content is read.
    case read
    /// A file that is made or changed.
    case write
    /// A folder in which tools work, with all that is in it.
    case tree
    /// Something that is handed on by its name, to SQLite or to other programs, which follow links to wherever these lead.
    case own
    /// Nobody has said, as with a text that is only passed on.
    case any
}

/// A path that an action is given. It says what for, and its text is nobody's: the body opens the `GrantedPath` that
/// `ActionContext.path` makes of it, so that nothing is opened that the caller may not reach.
public struct GivenPath<Use: PathUse>: InputValue, OutputValue, Hashable {
    let text: String

    public init(_ text: String) {
        self.text = text
    }

    public init(json: JSON) throws(ValueError) {
        self.init(try PathValue(json: json).text)
    }

    public static var schema: Schema { .path(Use.purpose) }
    public var json: JSON { .string(text) }
    /// For messages, and for what only has to be told by its name.
    public var shown: String { PlainText.escape(text) }
}

public typealias ReadPath = GivenPath<PathUses.Read>
public typealias WritePath = GivenPath<PathUses.Write>
/// A path that only a person may give: what opens it follows links wherever they lead, so that no bounds hold.
public typealias OwnPath = GivenPath<PathUses.Own>

extension GivenPath<PathUses.Read> {
    /// Whether `-` is given, where an action takes that for what is piped into the program.
    public var isStandardInput: Bool { text == "-" }
}

/// What a `GivenPath` is for, as a type.
public protocol PathUse: Sendable {
    static var purpose: PathPurpose { get }
}

public enum PathUses {
    public enum Read: PathUse {
        public static var purpose: PathPurpose { .read }
    }

    public enum Write: PathUse {
        public static var purpose: PathPurpose { .write }
    }

    public enum Own: PathUse {
        public static var purpose: PathPurpose { .own }
    }
}

/// A server that an action is given: a host, `host:port`, or an address. Whether its caller may speak to it is decided by
/// `HTTPClient` before the name is looked up, also for each address that a server redirects to.
public struct HostValue: InputValue, OutputValue, Hashable {
    public let text: String

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

/// A program that an action runs, by its name or its path: whether its caller may is decided before the action begins.
public struct ProgramName: InputValue, OutputValue, Hashable {
    public let text: String

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
