import CYAML
public import JSON

/// A YAML file: its value and the positions of its parts. It has the interface of `JSONDocument`.
///
///     let document = try YAMLDocument(parsing: bytes, name: "nightly.yaml")
///     document.value["steps"]?[0]
///     document.position(of: ["steps", "0", "action"])
///
/// It reads the unambiguous part of YAML: no tags, no merge keys, no second document, no duplicate keys.
public struct YAMLDocument: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// The value of the text; an empty text is `{}`.
    public let value: JSON
    private let root: YAMLSyntax?

    /// Parses a UTF-8 text. Throws `YAMLError` with the line and column of the first problem.
    public init(parsing text: [UInt8], name: String, limits: YAMLLimits = YAMLLimits()) throws(YAMLError) {
        self.name = name
        var reader = try YAMLTreeReader(text, limits: limits)
        root = try reader.document()
        value = root?.json ?? [:]
    }

    /// The line and column of the value at a path, counted from 1.
    public func position(of path: [String]) -> (line: Int, column: Int)? {
        guard var node = root else { return nil }
        for name in path {
            guard let child = node.child(name) else { return nil }
            node = child.value
        }
        return (node.place.line, node.place.column)
    }

    /// The line and column of the last key of a path, counted from 1.
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

/// Limits for a document.
public struct YAMLLimits: Sendable, Hashable {
    /// The size of the text.
    public var bytes = 4 << 20
    /// The number of values, with aliases expanded.
    public var values = 100_000
    /// The size of all texts and keys, with aliases expanded.
    public var expandedBytes = 16 << 20
    /// The nesting depth of lists and maps.
    public var depth = 64

    /// The default limits, which suit files that a person writes.
    public init() {}
}

/// libyaml itself.
enum YAMLLibrary {
    static var version: String { unsafe String(cString: yaml_get_version_string()) }
}
