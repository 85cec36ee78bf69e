public import Capabilities

/// Why something in a workspace cannot be used.
///
/// Only `.gone` is thrown by tools; all else becomes a result that the model can act on.
public struct WorkspaceError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What happened and what to do next, in a sentence without a final stop.
    public let message: String

    public var code: String { kind.description }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "workspace.outside".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The folder itself was removed.
        public static let gone = Kind("workspace.gone")
        /// The path leads out of the folder.
        public static let outside = Kind("workspace.outside")
        /// Nothing is at the path.
        public static let notFound = Kind("workspace.not-found")
        /// The user may not read or write it.
        public static let denied = Kind("workspace.denied")
        /// A file was expected, something else is there.
        public static let notFile = Kind("workspace.not-file")
        /// A folder was expected, something else is there.
        public static let notFolder = Kind("workspace.not-folder")
        /// The input of a tool is not what its schema says.
        public static let input = Kind("workspace.input")
        /// A pattern cannot be understood, or takes too long to match.
        public static let pattern = Kind("workspace.pattern")
        /// A patch cannot be read, or does not fit the file.
        public static let patch = Kind("workspace.patch")
        /// A text to be replaced is not there, or stands at several places.
        public static let edit = Kind("workspace.edit")
        /// A file was changed by somebody else since it was read.
        public static let changed = Kind("workspace.changed")
        /// A command cannot be run as the settings ask for.
        public static let shell = Kind("workspace.shell")
        /// The system refused in another way.
        public static let system = Kind("workspace.system")
    }
}
