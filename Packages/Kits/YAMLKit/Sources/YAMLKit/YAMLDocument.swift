import CYAML
public import JSON

/// A YAML file: its value, and where each part of it stands. It answers as `JSONDocument` does.
///
///     let document = try YAMLDocument(parsing: bytes, name: "nightly.yaml")
///     document.value["steps"]?[0]
///     document.position(of: ["steps", "0", "action"])
///
/// It reads the part of YAML that means one thing only: no tags, no merged maps, no second document, no key twice.
public struct YAMLDocument: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// What the text says; an empty text says `{}`.
    public let value: JSON
    private let root: YAMLSyntax?

    public init(parsing text: [UInt8], name: String, limits: YAMLLimits = YAMLLimits()) throws(YAMLError) {
        self.name = name
        var reader = try YAMLTreeReader(text, limits: limits)
        root = try reader.document()
        value = root?.json ?? [:]
    }

    /// The line and the column, counted from 1, of the value at a path.
    public func position(of path: [String]) -> (line: Int, column: Int)? {
        guard var node = root else { return nil }
        for name in path {
            guard let child = node.child(name) else { return nil }
            node = child.value
        }
        return (node.place.line, node.place.column)
    }

    /// The line and the column, counted from 1, of the key that a path ends in.
    public func keyPosition(of path: [String]) -> (line: Int, column: Int)? {
        guard var node = root, !path.isEmpty else { return nil }
        var place = node.place
        for name in path {
            guard let child = node.child(name) else { return nil }
            (place, node) = child
        }
        return (place.line, place.column)
    }

    /// The version of libyaml in use.
    public static var libraryVersion: String { YAMLLibrary.version }
}

/// How large a document may be.
public struct YAMLLimits: Sendable, Hashable {
    /// Bytes of the text.
    public var bytes = 4 << 20
    /// Values of the tree, with each alias counted as what it stands for.
    public var values = 100_000
    /// Bytes of all texts and keys, with each alias counted as what it stands for: what it takes to write the tree out.
    public var expandedBytes = 16 << 20
    /// How deep lists and maps nest.
    public var depth = 64

    public init() {}
}

/// libyaml itself.
enum YAMLLibrary {
    static var version: String { unsafe String(cString: yaml_get_version_string()) }
}
