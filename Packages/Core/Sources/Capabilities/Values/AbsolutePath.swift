/// An absolute path as the kernel reads it: bytes between slashes. To Swift a slash with an accent after it is another
/// character, so that nothing is cut, compared or joined by characters here.
public struct AbsolutePath: Sendable, Hashable {
    /// A slash and a name for each folder on its way; the topmost folder has none. All in one, for paths are compared
    /// often and their names are looked at rarely.
    private let parts: [UInt8]

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

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
        parts = Self.isPlain(bytes) ? bytes : Self.plain(bytes)
    }

    private init(parts: [UInt8]) {
        self.parts = parts
    }

    /// Whether it has neither empty names nor dots, as most have.
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

    /// As the kernel takes it, also where that is no text.
    public var bytes: [UInt8] { parts.isEmpty ? [Self.slash] : parts }

    public var text: String { parts.isEmpty ? "/" : String(decoding: parts, as: UTF8.self) }

    /// The folder that it is in; the topmost is in itself.
    public var folder: AbsolutePath { AbsolutePath(parts: Array(parts[..<(parts.lastIndex(of: Self.slash) ?? 0)])) }

    /// What a relative path means in this folder, by its text alone.
    public func appending(_ relative: String) -> AbsolutePath {
        AbsolutePath(bytes: parts + [Self.slash] + Array(relative.utf8))
    }

    /// What the rest of a path means in this folder, which has neither empty names nor dots.
    func appending(plain rest: [UInt8]) -> AbsolutePath {
        rest.isEmpty ? self : AbsolutePath(parts: parts + [Self.slash] + rest)
    }

    /// The names from a folder on; nil where it lies elsewhere.
    public func names(beneath folder: AbsolutePath) -> ArraySlice<[UInt8]>? {
        rest(beneath: folder).map { $0.split(separator: Self.slash).map(Array.init)[...] }
    }

    /// The path from a folder on, without a slash at its beginning; nil where it lies elsewhere.
    public func rest(beneath folder: AbsolutePath) -> ArraySlice<UInt8>? {
        lies(beneath: folder) ? parts.dropFirst(folder.parts.count + 1) : nil
    }

    public func lies(beneath folder: AbsolutePath) -> Bool {
        let start = folder.parts.count
        guard parts.count == start || parts.count > start && parts[start] == Self.slash else { return false }
        return parts.starts(with: folder.parts)
    }

    /// Whether one of its names from a folder on is this one; nil looks at all of them.
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
