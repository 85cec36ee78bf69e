public import Capabilities

/// Why a database could not be opened, read or changed.
///
/// A statement that was interrupted because its task was cancelled throws `CancellationError` instead.
public struct StorageError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
    public let message: String
    /// The extended result code of SQLite, or 0 when this package refused by itself.
    public let resultCode: Int32

    public var code: String { kind.description }

    init(_ kind: Kind, _ message: String, resultCode: Int32 = 0) {
        self.kind = kind
        self.message = message
        self.resultCode = resultCode
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "storage.busy".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The file cannot be opened or made.
        public static let open = Kind("storage.open")
        /// Somebody else kept the lock for longer than the limit, or too many wait already.
        public static let busy = Kind("storage.busy")
        /// The disk, the quota or the limit of file sizes is reached.
        public static let full = Kind("storage.full")
        /// The file is no database, or its content contradicts itself.
        public static let damaged = Kind("storage.damaged")
        /// A newer version of the program has changed the tables.
        public static let newer = Kind("storage.newer")
        /// The file is a database of another program.
        public static let foreign = Kind("storage.foreign")
        /// The tables were made by migrations that are not the ones known here.
        public static let changed = Kind("storage.changed")
        /// The file, its file system or the kind of access forbids writing.
        public static let readOnly = Kind("storage.read-only")
        /// A rule of the tables forbids the value.
        public static let constraint = Kind("storage.constraint")
        /// A value, a row or a statement is larger than SQLite takes.
        public static let tooLarge = Kind("storage.too-large")
        /// A value is not of the type that was asked for, or there are more or fewer of them than places.
        public static let mismatch = Kind("storage.mismatch")
        /// SQLite does not understand the statement, or it cannot be run now.
        public static let statement = Kind("storage.statement")
        /// The system could not read or write.
        public static let system = Kind("storage.system")
        /// It was closed before.
        public static let closed = Kind("storage.closed")
    }
}
