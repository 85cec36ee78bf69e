/// An absolute path as the kernel reads it: bytes between slashes. To Swift a slash with an accent after it is another
/// character, so that nothing is cut, compared or joined by characters here.
public struct AbsolutePath: Sendable, Hashable {
    /// The names, without empty ones, `.` and `..`.
    public let names: [[UInt8]]

    private static let slash = UInt8(ascii: "/")

    /// Whether a text is one.
    public static func isAbsolute(_ text: String) -> Bool { text.utf8.first == slash }

    /// What a text means in a folder, joined and otherwise as it is.
    public static func joined(_ text: String, in folder: String) -> String {
        if isAbsolute(text) { return text }
        return folder.utf8.last == slash ? folder + text : "\(folder)/\(text)"
    }

    /// By its text alone: a `..` takes the name before it away, whatever that leads to.
    public init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    public init(bytes: [UInt8]) {
        var names: [[UInt8]] = []
        for name in bytes.split(separator: Self.slash) where !name.elementsEqual(".".utf8) {
            if name.elementsEqual("..".utf8) { _ = names.popLast() } else { names.append(Array(name)) }
        }
        self.names = names
    }

    private init(names: [[UInt8]]) {
        self.names = names
    }

    /// As the kernel takes it, also where that is no text.
    public var bytes: [UInt8] { names.isEmpty ? [Self.slash] : names.flatMap { [Self.slash] + $0 } }

    public var text: String { "/" + names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") }

    /// The folder that it is in; the topmost is in itself.
    public var folder: AbsolutePath { AbsolutePath(names: names.dropLast()) }

    /// What a relative path means in this folder, by its text alone.
    public func appending(_ relative: String) -> AbsolutePath {
        AbsolutePath(bytes: bytes + [Self.slash] + Array(relative.utf8))
    }

    /// The names from a folder on; nil where it lies elsewhere.
    public func names(beneath folder: AbsolutePath) -> ArraySlice<[UInt8]>? {
        names.starts(with: folder.names) ? names.dropFirst(folder.names.count) : nil
    }

    public func lies(beneath folder: AbsolutePath) -> Bool { names.starts(with: folder.names) }
}
