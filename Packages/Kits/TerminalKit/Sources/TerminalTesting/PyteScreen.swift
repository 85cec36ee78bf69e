import Glibc

/// The terminal emulator pyte: a second opinion on what frames draw. It is one of the Python packages of `.ci/peers`.
public enum PyteScreen {
    /// One cell: its text, nothing in the right half of a wide one, and its colours and attributes in pyte's words.
    public struct PyteCell: Equatable, Sendable {
        public let text: String
        public let foreground: String
        public let background: String
        /// The first letters of bold, italics, underscore, strikethrough and reverse.
        public let attributes: String
    }

    /// Whether there is a Python with pyte.
    public static let isInstalled = python != nil

    /// The Python with pyte: the one in MARTLET_PEERS, or in `.build/peers` of the project.
    private static let python: String? = {
        var candidates: [String] = []
        if let peers = unsafe getenv("MARTLET_PEERS") {
            candidates = [unsafe String(cString: peers)]
        } else {
            var folder = #filePath
            while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
                folder = String(folder[..<slash])
                candidates.append("\(folder)/.build/peers")
            }
        }
        return candidates.map { "\($0)/bin/python" }.first {
            unsafe access($0, X_OK) == 0 && system("\($0) -c 'import pyte' 2>/dev/null") == 0
        }
    }()

    /// Reads frames from its input, each after its length, and prints the screen after each.
    private static let program = """
        import os, sys
        import pyte
        columns, rows = int(sys.argv[1]), int(sys.argv[2])
        screen = pyte.Screen(columns, rows)
        stream = pyte.ByteStream(screen)
        source = open(sys.argv[3], 'rb')
        for line in source:
            stream.feed(source.read(int(line)))
            for row in range(rows):
                for column in range(columns):
                    cell = screen.buffer[row][column]
                    look = ''.join(name[0] for name in ('bold', 'italics', 'underscore', 'strikethrough', 'reverse')
                                   if getattr(cell, name))
                    print(cell.data, cell.fg, cell.bg, look, sep='\\t')
        """

    /// The rows of cells after each of the frames.
    public static func show(_ frames: [[UInt8]], columns: Int, rows: Int) throws -> [[[PyteCell]]] {
        guard let python else { throw TestTerminalError(message: "pyte is not installed: run `make setup`") }
        let name = "/tmp/martlet-pyte-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { unsafe unlink(name) }
        try write(frames.flatMap { Array("\($0.count)\n".utf8) + $0 }, to: name)
        try write(Array(program.utf8), to: name + ".py")
        defer { unsafe unlink(name + ".py") }
        guard let pipe = unsafe popen("PYTHONUTF8=1 \(python) \(name).py \(columns) \(rows) \(name) 2>&1", "r") else {
            throw TestTerminalError(message: "pyte could not be run: \(errno)")
        }
        var bytes: [UInt8] = []
        var byte = unsafe fgetc(pipe)
        while byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
            byte = unsafe fgetc(pipe)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard unsafe pclose(pipe) == 0 else { throw TestTerminalError(message: "pyte: \(text)") }
        let cells = text.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return PyteCell(text: parts[0], foreground: parts[1], background: parts[2], attributes: parts[3])
        }
        guard cells.count == frames.count * columns * rows else {
            throw TestTerminalError(message: "pyte: \(text.prefix(500))")
        }
        return frames.indices.map { frame in
            (0..<rows).map { row in
                let start = (frame * rows + row) * columns
                return Array(cells[start..<start + columns])
            }
        }
    }

    private static func write(_ bytes: [UInt8], to name: String) throws {
        let file = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw TestTerminalError(message: "\(name) could not be written: \(errno)") }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw TestTerminalError(message: "\(name) could not be written: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }
}
