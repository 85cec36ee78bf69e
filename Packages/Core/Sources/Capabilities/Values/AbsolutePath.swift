/// An absolute path as the kernel reads it: bytes between slashes. Swift treats a slash followed by a combining accent
/// as one character, so paths are never cut, compared or joined by characters here.
public struct AbsolutePath: Sendable, Hashable {
    /// A slash and a name for each component; empty for the root. Stored as one array, because paths are compared often
    /// and their names are needed rarely.
    private let parts: [UInt8]

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    /// Whether a text is an absolute path.
    public static func isAbsolute(_ text: String) -> Bool { text.utf8.first == slash }

    /// A path relative to a folder, joined but otherwise unchanged.
    public static func joined(_ text: String, in folder: String) -> String {
        if isAbsolute(text) { return text }
        return folder.utf8.last == slash ? folder + text : "\(folder)/\(text)"
    }

    /// Resolves the text alone: `..` removes the name before it, even if that name is a link.
    public init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// The same for bytes that need not be valid text, as the kernel gives them.
    public init(bytes: [UInt8]) {
        parts = Self.isPlain(bytes) ? bytes : Self.plain(bytes)
    }

    private init(parts: [UInt8]) {
        self.parts = parts
    }

    /// Whether it contains neither empty names nor dots, as most paths do.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == slash else { return false }
        var start = 1
        for end in 1...bytes.count where end == bytes.count || bytes[end] == slash {
            let length = end - start
            if length == 0 || length <= 2 && bytes[start] == dot && bytes[end - 1] == dot { return false }
            start = end + 1
        }
        return true
    }

    private static func plain(_ bytes: [UInt8]) -> [UInt8] {
        var names: [ArraySlice<UInt8>] = []
        for name in bytes.split(separator: slash) where !name.elementsEqual(".".utf8) {
            if name.elementsEqual("..".utf8) { _ = names.popLast() } else { names.append(name) }
        }
        return names.flatMap { [slash] + $0 }
    }

    /// The names, without empty ones, `.` and `..`.
    public var names: [[UInt8]] { parts.split(separator: Self.slash).map(Array.init) }

    /// The bytes for the kernel, even if they are not valid text.
    public var bytes: [UInt8] { parts.isEmpty ? [Self.slash] : parts }

    /// The path as text, in which bytes that are not UTF-8 are replaced.
    public var text: String { parts.isEmpty ? "/" : String(decoding: parts, as: UTF8.self) }

    /// The path as text, given the text that it was made of. Resolving shortens an absolute path or leaves it as it is, and
    /// then there is no need for another text.
    func text(from given: String) -> String {
        Self.isAbsolute(given) && given.utf8.count == bytes.count ? given : text
    }

    /// The folder that contains it; the root contains itself.
    public var folder: AbsolutePath { AbsolutePath(parts: Array(parts[..<(parts.lastIndex(of: Self.slash) ?? 0)])) }

    /// Resolves a relative path against this folder, by its text alone.
    public func appending(_ relative: String) -> AbsolutePath {
        AbsolutePath(bytes: parts + [Self.slash] + Array(relative.utf8))
    }

    /// Appends the rest of a path that contains neither empty names nor dots.
    func appending(plain rest: [UInt8]) -> AbsolutePath {
        rest.isEmpty ? self : AbsolutePath(parts: parts + [Self.slash] + rest)
    }

    /// The names below a folder; nil if the path is not inside it.
    public func names(beneath folder: AbsolutePath) -> ArraySlice<[UInt8]>? {
        rest(beneath: folder).map { $0.split(separator: Self.slash).map(Array.init)[...] }
    }

    /// The path below a folder, without a leading slash; nil if the path is not inside it.
    public func rest(beneath folder: AbsolutePath) -> ArraySlice<UInt8>? {
        lies(beneath: folder) ? parts.dropFirst(folder.parts.count + 1) : nil
    }

    /// Whether the path is the folder itself, or inside it at any depth.
    public func lies(beneath folder: AbsolutePath) -> Bool {
        let start = folder.parts.count
        guard parts.count == start || parts.count > start && parts[start] == Self.slash else { return false }
        return parts.starts(with: folder.parts)
    }

    /// Whether one of its names below a folder is this one; without a folder, all names are checked.
    func has(_ name: StaticString, beneath folder: AbsolutePath? = nil) -> Bool {
        let length = name.utf8CodeUnitCount
        var end = parts.count
        let first = folder.map(\.parts.count) ?? 0
        while end > first, let start = parts[first..<end].lastIndex(of: Self.slash) {
            if end - start - 1 == length,
                name.withUTF8Buffer({ unsafe parts[(start + 1)..<end].elementsEqual($0) })
            {
                return true
            }
            end = start
        }
        return false
    }
}
