import Capabilities

/// A path below a folder, in the bytes of the file system, because not every name is UTF-8.
struct EntryPath: Sendable, Hashable {
    private(set) var bytes: [UInt8]

    /// The folder itself.
    static let here = EntryPath(bytes: [])

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A path from outside. C code would read a NUL as the end, and so use another path.
    init(_ text: String) throws(WorkspaceError) {
        bytes = Array(text.utf8)
        guard !bytes.contains(0) else { throw WorkspaceError(.input, "a path cannot contain a NUL; remove it") }
        guard bytes.count < 4096 else { throw WorkspaceError(.input, "the path is too long; the limit is 4095 bytes") }
    }

    var isAbsolute: Bool { bytes.first == Byte.slash }

    /// The length of this path as a prefix of the paths below it.
    var lengthWithSlash: Int { bytes.isEmpty ? 0 : bytes.count + 1 }

    /// The index where the last name begins.
    var nameStart: Int { (bytes.lastIndex(of: Byte.slash) ?? -1) + 1 }

    /// The parts between the slashes, without empty ones and `.`.
    var parts: [ArraySlice<UInt8>] {
        bytes.split(separator: Byte.slash).filter { !$0.elementsEqual([Byte.dot]) }
    }

    /// The path of an entry of this folder.
    func appending(_ name: some Collection<UInt8>) -> EntryPath {
        var longer: [UInt8] = []
        longer.reserveCapacity(bytes.count + 1 + name.count)
        longer.append(contentsOf: bytes)
        if !bytes.isEmpty, bytes.last != Byte.slash { longer.append(Byte.slash) }
        longer.append(contentsOf: name)
        return EntryPath(bytes: longer)
    }

    /// For a system call, which needs `.` for the folder itself.
    var terminated: [UInt8] { bytes.isEmpty ? [Byte.dot, 0] : bytes + [0] }

    /// For people and models. A name may contain line breaks and terminal escape sequences.
    var shown: String {
        if bytes.isEmpty { return "." }
        let text = String(decoding: bytes, as: UTF8.self)
        // Looking up the category of each letter takes longer than opening a file.
        return bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? text : PlainText.escape(text)
    }
}

/// Bytes that separate paths and texts.
enum Byte {
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let slash = UInt8(ascii: "/")
    static let dot = UInt8(ascii: ".")
    static let backslash = UInt8(ascii: "\\")
}
